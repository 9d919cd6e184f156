import Foundation
import Glibc
import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

@Suite("The age of the database's file")
struct DatabaseFileAgeTests {
  /// Gives a file a time of modification, with a fraction of a second.
  private func modify(_ path: String, at date: Date) {
    let seconds = date.timeIntervalSince1970
    let fraction = Int((seconds - seconds.rounded(.down)) * 1e9) | 1
    let time = timespec(tv_sec: Int(seconds), tv_nsec: fraction)
    #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
  }

  @Test("A file proves nothing while a commit that has written it may wait for the disk, unseen by readers")
  func youngFile() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    try Data("content".utf8).write(to: URL(filePath: path))
    var looks = 0
    // A busy machine may take long between the steps.
    while looks < 3 {
      let modified = Date.now.addingTimeInterval(-0.5)
      modify(path, at: modified)
      let state = DatabaseFileState(path)
      guard Date.now.timeIntervalSince(modified) < 0.75 else { continue }
      #expect(state == nil)
      looks += 1
    }
    modify(path, at: .now.addingTimeInterval(-1))
    #expect(DatabaseFileState(path) != nil)
  }
}
