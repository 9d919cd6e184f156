internal import Threads

/// Reloads members files when one of them changed.
struct MembersWatch: Sendable {
  private let reload: Reload

  /// The interval at which the files are checked, in seconds: a call of `stat` for each.
  private static let interval = 2

  init(_ reload: Reload) { self.reload = reload }

  /// Schedules the check.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.addTask(every: Self.interval, after: Self.interval) {
      guard !reload.current.members.isEmpty else { return }
      let areOutdated = await reload.files.run { reload.current.members.areOutdated }
      if areOutdated { await reload.rereadMembers() }
    }
  }
}
