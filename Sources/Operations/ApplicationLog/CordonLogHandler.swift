package import Logging

/// Writes the events of swift-log as one line each, in the format of the access log and the audit log.
///
/// Messages are constants; variable data is metadata. Every control character is escaped, so that no value can begin a
/// new line.
package struct CordonLogHandler: LogHandler {
  /// The least severity that is written: this logger's own, if set, otherwise the common one.
  package var logLevel: Logger.Level {
    get { ownLevel ?? control.level }
    set { ownLevel = newValue }
  }
  /// Metadata of this logger, in each of its lines.
  package var metadata: Logger.Metadata = [:]
  /// Metadata at the time of each event: it replaces the same keys of ``metadata``, and the event's own replace it.
  package var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private var ownLevel: Logger.Level?
  private let control: LogControl
  private let output: LogSink
  private let clock: @Sendable () -> Timestamp

  /// - Parameters:
  ///   - label: the logger's label, logged as `logger`.
  ///   - control: the least severity that is written, and the format of lines.
  ///   - output: the sink of the lines.
  ///   - clock: the time of each event.
  package init(
    label: String, control: LogControl, output: LogSink = .standard,
    clock: @escaping @Sendable () -> Timestamp = Timestamp.now
  ) {
    self.label = label
    self.control = control
    self.output = output
    self.clock = clock
  }

  /// One value of ``metadata``.
  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes one line, unless the log is off. swift-log has compared the level with ``logLevel`` before.
  package func log(event: LogEvent) {
    guard control.isOn else { return }
    var all = metadata
    if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
    if let own = event.metadata { all.merge(own) { _, new in new } }
    if let error = event.error { all["error"] = "\(error)" }

    var buffer = LogBuffer()
    if output.isJournal { buffer.append(JournalStream.prefix(event.level)) }
    var line = LogFormatter(buffer, format: control.format)
    line.time(clock())
    line.kind("event")
    line.word("level", event.level.rawValue)
    line.string("message", event.message.description)
    line.string("logger", label)
    for (key, value) in all.sorted(by: { $0.key < $1.key }) {
      // A second key of the same name would make the object ambiguous.
      line.string(dynamicKey: Self.ownKeys.contains(key) ? "metadata_\(key)" : key, value.description)
    }
    output.write(line.end())
  }

  private static let ownKeys: Set<String> = ["time", "kind", "level", "message", "logger"]
}

extension LogSettings {
  /// The format of lines that go to `output`.
  package func format(for output: LogSink) -> LineFormat {
    switch format {
    case .json: .json
    case .text: .text
    case .automatic, .combined: output.isTerminal ? .text : .json
    }
  }
}

extension LogSettings.Level {
  /// The same severity in swift-log's terms; nil for `off`.
  package var swiftLog: Logger.Level? {
    switch self {
    case .trace: .trace
    case .debug: .debug
    case .info: .info
    case .notice: .notice
    case .warning: .warning
    case .error: .error
    case .critical: .critical
    case .off: nil
    }
  }
}
