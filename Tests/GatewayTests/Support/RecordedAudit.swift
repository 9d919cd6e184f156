import Foundation
import Operations
import Sessions

@testable import Gateway

/// An audit log that a test reads.
final class RecordedAudit {
  let trail: AuditTrail
  private let pipe = Pipe()
  private let output: LogSink

  init(_ keyring: SessionKeyring) {
    output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    trail = AuditTrail(LogSettings(), keyring: keyring, output: output)
  }

  /// Ends the log, and returns its events: lines of JSON.
  func lines() throws -> [String] {
    output.flush(atMost: .seconds(120))
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return text.split(separator: "\n").map { String($0) }
  }
}
