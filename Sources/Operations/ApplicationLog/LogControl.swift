package import Logging
internal import Synchronization

/// Format and level of the application log, for all loggers of the process; a reload changes them.
package final class LogControl: Sendable {
  private let state: Mutex<State>
  private let output: LogSink

  private struct State {
    /// Nil where no event is written.
    var level: Logger.Level?
    var format: LineFormat
  }

  /// - Parameter output: where lines go, which decides what the format `auto` is.
  package init(_ settings: LogSettings, output: LogSink = .standard) {
    self.output = output
    state = Mutex(State(level: settings.level.swiftLog, format: settings.format(for: output)))
  }

  /// Goes by other settings from now on.
  package func apply(_ settings: LogSettings) {
    state.withLock { $0 = State(level: settings.level.swiftLog, format: settings.format(for: output)) }
  }

  /// The least severity that is written; `critical` where none is.
  package var level: Logger.Level { state.withLock { $0.level } ?? .critical }

  /// Whether events are written at all.
  var isOn: Bool { state.withLock { $0.level } != nil }

  var format: LineFormat { state.withLock { $0.format } }
}
