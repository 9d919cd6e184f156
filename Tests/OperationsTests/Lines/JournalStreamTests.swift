import Foundation
import Logging
import TemporaryDirectoryTesting
import Testing

@testable import Operations

@Suite("The journal's stream")
struct JournalStreamTests {
  @Test("A descriptor is the journal's if JOURNAL_STREAM names its device and inode, and not otherwise")
  func target() throws {
    let folder = try TemporaryDirectory()
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: try folder.write("", to: "stream")))
    defer { try? handle.close() }
    var status = stat()
    #expect(fstat(handle.fileDescriptor, &status) == 0)
    let stream = "\(status.st_dev):\(status.st_ino)"
    #expect(JournalStream.isTarget(handle.fileDescriptor, of: stream))
    for other in ["", ":", "x:y", "\(stream):1", "\(status.st_dev):\(status.st_ino + 1)", "\(status.st_ino)", "-1:-1"] {
      #expect(!JournalStream.isTarget(handle.fileDescriptor, of: other), "\(other)")
    }
    #expect(!JournalStream.isTarget(-1, of: stream))
  }

  @Test("Priorities are those of syslog")
  func priorities() {
    let prefixes = ["<2>", "<3>", "<4>", "<5>", "<6>", "<7>", "<7>"]
    let levels: [Logger.Level] = [.critical, .error, .warning, .notice, .info, .debug, .trace]
    #expect(levels.map { "\(JournalStream.prefix($0))" } == prefixes)
  }
}
