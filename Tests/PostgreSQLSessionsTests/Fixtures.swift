import Foundation
import Secrets
import Sessions
import Testing

@testable import PostgreSQLSessions

let noon = Date(timeIntervalSince1970: 1_790_000_000)

func signIn(_ name: String = "ada") throws -> SignIn {
  let subject = try #require(Subject("001234.\(name).0987"))
  let keyring = try SessionKeyring(secrets: [SessionSecret(Array(repeating: 7, count: 32))])
  var claims = AccountClaims()
  claims.email = "\(name)@example.com"
  return SignIn(
    session: Session(.random(), of: subject, clientID: "com.example.web", now: noon, lifetime: .seconds(86_400)),
    name: PersonName(given: name, family: nil), claims: claims,
    token: try keyring.seal(RefreshToken("r.\(name)"), of: subject, clientID: "com.example.web"))
}

/// Opens a store that waits long for its server: on a machine that is busy with other suites, five seconds are little.
func openStore(
  _ url: String, connections: Int = 8, notifies: Bool = true, isCopyTarget: Bool = false
) async throws(StoreError) -> PostgreSQLSessionStore {
  try await PostgreSQLSessionStore(
    url: url, connections: connections, notifies: notifies, isCopyTarget: isCopyTarget,
    limits: TimeLimits(connect: .seconds(120), statement: .seconds(120)))
}

/// Returns the error that `body` throws; nil if it throws none.
func storeError(_ body: () async throws -> Void) async -> StoreError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? StoreError
  }
}

/// Waits until `probe` answers.
func eventually<Result>(_ what: Comment, _ probe: () async throws -> Result?) async throws -> Result {
  let deadline = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < deadline {
    if let result = try await probe() { return result }
    try await Task.sleep(for: .milliseconds(20))
  }
  throw WaitedInVain(what: "\(what)")
}

struct WaitedInVain: Error {
  let what: String
}
