import Logging
import Synchronization

/// Lines of a log, in their order.
final class RecordedLines: Sendable {
  let all = Mutex<[String]>([])

  /// Takes the lines since the last call.
  func take() -> [String] {
    all.withLock { all in
      defer { all = [] }
      return all
    }
  }
}

/// Writes each message with some of its metadata.
struct RecordingLogHandler: LogHandler {
  private let lines: RecordedLines
  private let keys: [String]
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  /// - Parameter keys: of the metadata, in the order in which they are written.
  init(_ lines: RecordedLines, _ keys: [String]) {
    self.lines = lines
    self.keys = keys
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let words = keys.map { event.metadata?[$0].map { "\($0)" } ?? "-" }
    lines.all.withLock { $0.append("\(event.message) \(words.joined(separator: " "))") }
  }
}
