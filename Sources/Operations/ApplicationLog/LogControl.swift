package import Logging
internal import Synchronization

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
}
