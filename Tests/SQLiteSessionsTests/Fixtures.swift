import Foundation
import SessionStoreTesting
import Sessions
import Testing

let noon = TestSignIn.time

func signIn(_ name: String = "ada") throws -> SignIn { try TestSignIn.of(name) }

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
