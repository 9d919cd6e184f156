package import Foundation
import Synchronization

/// A folder for the files of a test, for its owner only. It is removed with its contents when the last reference to it
/// is released, and at the exit of the process at the latest: what a static variable holds is never released.
///
/// It is below the folder that `TMPDIR` names. `Scripts/run-tests` sets that to one of its own, which it removes at the
/// end, also when a test process was killed.
package final class TemporaryDirectory: Sendable {
  /// Its absolute path.
  package let path: String

  /// Makes a new folder.
  package init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "cordon-test-\(UUID().uuidString.prefix(8))")
    // An error if it exists: what was not made here is not removed here.
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let path = url.path
    self.path = path
    _ = Self.isRemovedAtExit
    Self.present.withLock { _ = $0.insert(path) }
  }

  deinit { remove() }

  /// The folder as an address.
  package var url: URL { URL(fileURLWithPath: path) }

  /// Returns the path of a file in it, which need not exist.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file and returns its path.
  /// - Parameter mode: its permissions.
  @discardableResult
  package func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let file = self.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  /// Removes it, with its contents, before its last reference is released.
  package func remove() {
    guard Self.present.withLock({ $0.remove(path) }) != nil else { return }
    Self.remove(path)
  }

  // MARK: Implementation

  /// The folders of this process that were not removed yet.
  private static let present = Mutex<Set<String>>([])

  private static let isRemovedAtExit = atexit { TemporaryDirectory.removeAll() } == 0

  private static func removeAll() {
    let left = present.withLock { present in
      defer { present = [] }
      return present
    }
    for path in left { remove(path) }
  }

  /// Tries it again for two seconds: a process that was killed a moment ago may still add files.
  private static func remove(_ path: String) {
    let deadline = ContinuousClock.now + .seconds(2)
    repeat {
      try? FileManager.default.removeItem(atPath: path)
      guard FileManager.default.fileExists(atPath: path) else { return }
      usleep(20_000)
    } while ContinuousClock.now < deadline
  }
}
