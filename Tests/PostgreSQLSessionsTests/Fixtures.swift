import Foundation
import SessionStoreTesting
import Sessions

@testable import PostgreSQLSessions

let noon = TestSignIn.time

func signIn(_ name: String = "ada") throws -> SignIn { try TestSignIn.of(name) }

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
