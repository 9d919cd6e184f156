import Foundation
import Secrets
import Sessions
import Testing

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

/// A folder that is gone when the test is over.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  deinit { try? FileManager.default.removeItem(at: url) }
}
