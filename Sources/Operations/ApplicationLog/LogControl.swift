package import Logging
internal import Synchronization
internal import WebFormats

/// Format and level of the application log, for all loggers of the process; a reload changes them.
package final class LogControl: Sendable {
  private let state: Mutex<State>
  private let output: LogSink

  private struct State {
    /// Nil if no event is written.
    var level: Logger.Level?
    var format: LineFormat
  }

  /// - Parameter output: the sink of the lines, which determines the format `auto`.
  package init(_ settings: LogSettings, output: LogSink = .standard) {
    self.output = output
    state = Mutex(State(level: settings.level.swiftLog, format: settings.format(for: output)))
    output.reportGaps { [weak self] gap in self?.line(about: gap) ?? [] }
  }

  /// Applies other settings.
  package func apply(_ settings: LogSettings) {
    state.withLock { $0 = State(level: settings.level.swiftLog, format: settings.format(for: output)) }
  }

  /// The least severity that is written; `critical` if none is.
  package var level: Logger.Level { state.withLock { $0.level } ?? .critical }

  /// Whether events are written at all.
  var isOn: Bool { state.withLock { $0.level } != nil }

  var format: LineFormat { state.withLock { $0.format } }

  /// The warning about dropped lines; empty if warnings are not written. The sink writes it, not a logger: it takes the
  /// place of the lines.
  private func line(about gap: LogGap) -> [UInt8] {
    guard isOn, level <= .warning else { return [] }
    var buffer = LogBuffer()
    if output.isJournal { buffer.append(JournalStream.prefix(.warning)) }
    var line = LogFormatter(buffer, format: format)
    line.time(.now())
    line.kind("event")
    line.word("level", Logger.Level.warning.rawValue)
    line.string("message", "log lines were dropped")
    line.string("logger", "cordon")
    line.string("bytes", "\(gap.bytes)")
    line.string("lines", "\(gap.lines)")
    line.string("since", gap.since.description)
    var bytes: [UInt8] = []
    line.end().withBytes { bytes.append($0) }
    return bytes
  }
}
