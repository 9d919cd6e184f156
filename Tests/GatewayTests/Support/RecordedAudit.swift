import Foundation
import Operations
import Sessions
import TemporaryDirectoryTesting

@testable import Gateway

/// An audit log that a test reads.
final class RecordedAudit {
  let trail: AuditTrail
  /// A file without a name, not a pipe: a process that another test starts meanwhile would keep that open.
  private let file: FileHandle
  private let output: LogSink

  init(_ keyring: SessionKeyring) throws {
    let folder = try TemporaryDirectory()
    file = try FileHandle(forUpdating: URL(fileURLWithPath: try folder.write("", to: "audit")))
    folder.remove()
    output = LogSink(descriptor: file.fileDescriptor)
    trail = AuditTrail(LogSettings(), keyring: keyring, output: output)
  }

  /// The events so far: lines of JSON.
  func lines() throws -> [String] {
    output.flush(atMost: .seconds(120))
    try file.seek(toOffset: 0)
    let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").map { String($0) }
  }
}
