internal import DataPlane
internal import Synchronization

/// Reloads certificates and keys when one of their files changed, and rotates the keys of session tickets.
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
  /// The rotation interval of session ticket keys in memory, in seconds. A key is accepted for another interval, which
  /// is longer than the lifetime of a ticket.
  private static let ticketKeyInterval = 12 * 3_600

  init(_ reload: Reload) {
    self.reload = reload
    state = Mutex(State(reload.current.listener.certificateFiles))
  }

  /// Schedules both tasks.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.addTask(every: Self.interval, after: Self.interval) { [self] in
      if haveChanged() { await reload.rereadCertificates() }
    }
    tasks.addTask(every: Self.ticketKeyInterval, after: Self.ticketKeyInterval) { [reload] in
      await reload.rotateTicketKeys()
    }
  }

  /// Whether a file has changed since the last call, or since the files were read by a reload.
  ///
  /// A certificate and its key are two files, written shortly after each other. If a check falls in between, the
  /// mismatch is refused, and the next check sees the second file.
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
