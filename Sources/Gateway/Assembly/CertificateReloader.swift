internal import DataPlane
internal import Synchronization

/// Has certificates and keys read again when one of their files changed, and the keys of session tickets renewed.
final class CertificateReloader: Sendable {
  private let reload: Reload
  private let state: Mutex<State>

  /// The files of the present configuration, and their attributes when they were last read.
  private struct State {
    var paths: [String]
    var seen: CertificateFiles

    init(_ paths: [String]) {
      self.paths = paths
      seen = CertificateFiles(paths)
    }
  }

  /// The interval at which the files are checked, in seconds: a call of `stat` for each.
  private static let interval = 2
  /// The time for which the keys of session tickets in memory make tickets, in seconds. They accept them as long again,
  /// which is longer than a ticket lives.
  private static let ticketKeyInterval = 12 * 3_600

  init(_ reload: Reload) {
    self.reload = reload
    state = Mutex(State(reload.current.listener.certificateFiles))
  }

  /// Adds both to periodic work.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.addTask(every: Self.interval, delaysFirst: true) { [self] in
      if haveChanged() { await reload.rereadCertificates() }
    }
    tasks.addTask(every: Self.ticketKeyInterval, delaysFirst: true) { [reload] in await reload.rotateTicketKeys() }
  }

  /// Whether a file has changed since the last call, or since another configuration has read its own.
  ///
  /// A certificate and its key are two files that are written one shortly after the other. When it takes longer, the
  /// first reading is refused, and the second follows the second file.
  private func haveChanged() -> Bool {
    state.withLock { state in
      let paths = reload.current.listener.certificateFiles
      if paths != state.paths { state = State(paths) }
      let files = CertificateFiles(paths)
      guard files != state.seen else { return false }
      state.seen = files
      return true
    }
  }
}
