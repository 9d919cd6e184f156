import Foundation
import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

@Suite("The watch of files")
struct FileWatchTests {
  private func files() throws -> (folder: TemporaryDirectory, first: String, second: String) {
    let folder = try TemporaryDirectory()
    let (first, second) = (folder.file("first"), folder.file("second"))
    for path in [first, second] { try Data("content".utf8).write(to: URL(filePath: path)) }
    return (folder, first, second)
  }

  private func append(to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data("more".utf8))
    try file.close()
  }

  @Test("A write to each of the files is an event, which is reported once")
  func writes() throws {
    let (folder, first, second) = try files()
    let watch = try #require(FileWatch([first, second]))
    #expect(!watch.hasEvents())
    for path in [first, second] {
      try append(to: path)
      #expect(watch.hasEvents())
      #expect(!watch.hasEvents())
    }
    withExtendedLifetime(folder) {}
  }

  @Test("A file that is moved, replaced or deleted is an event, also while it is open")
  func replacements() throws {
    let (folder, first, second) = try files()
    let open = try FileHandle(forReadingFrom: URL(filePath: first))
    let watch = try #require(FileWatch([first]))
    try FileManager.default.moveItem(atPath: first, toPath: folder.file("moved"))
    #expect(watch.hasEvents())
    #expect(rename(second, folder.file("moved")) == 0)
    #expect(watch.hasEvents())
    try open.close()
    let other = try #require(FileWatch([folder.file("moved")]))
    try FileManager.default.removeItem(atPath: folder.file("moved"))
    #expect(other.hasEvents())
  }

  @Test("More events than one call takes are reported by the next calls")
  func manyEvents() throws {
    let (folder, first, second) = try files()
    let watch = try #require(FileWatch([first, second]))
    // In turns, as the system makes one event of equal ones.
    for _ in 1...300 { for path in [first, second] { try append(to: path) } }
    var calls = 0
    while watch.hasEvents() { calls += 1 }
    #expect(calls > 1)
    withExtendedLifetime(folder) {}
  }

  @Test("A file that is not there cannot be watched")
  func missing() throws {
    let folder = try TemporaryDirectory()
    #expect(FileWatch([folder.file("missing")]) == nil)
  }
}
