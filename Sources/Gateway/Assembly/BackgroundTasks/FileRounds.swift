internal import Threads

/// Looks at the files that may change while the gateway runs: all in one round, on the thread for files. Nothing comes
/// back from there unless something has changed, so that an idle gateway wakes up as rarely as possible.
struct FileRounds: Sendable {
  /// Has work done on the thread for files.
  typealias AddWork = @Sendable (@escaping @Sendable () -> Void) throws(ThreadError) -> Void
  /// Does what a change asks for.
  typealias Reaction = @Sendable () async -> Void
  /// Looks at some of the files; blocks. Returns the reaction to a change, nil if nothing has changed.
  typealias Look = @Sendable () -> Reaction?

  private let add: AddWork
  private let looks: [Look]

  /// The interval of the rounds, in seconds: a call of `stat` for each file.
  private static let interval = 2

  init(by add: @escaping AddWork, _ looks: [Look]) {
    self.add = add
    self.looks = looks
  }

  /// Schedules the rounds. None begins while one is under way: a file system may not answer, or a reload may take long.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.addCall(every: Self.interval, after: Self.interval) { [self] done in begin(done) }
  }

  /// Begins a round.
  /// - Parameter done: is called once when it is over, together with what it has led to.
  func begin(_ done: @escaping @Sendable () -> Void) {
    do throws(ThreadError) {
      try add { [self] in look(done) }
    } catch {
      // The next round may find a thread.
      done()
    }
  }

  private func look(_ done: @escaping @Sendable () -> Void) {
    let reactions = looks.compactMap { $0() }
    guard !reactions.isEmpty else { return done() }
    Task {
      for react in reactions { await react() }
      done()
    }
  }
}
