internal import Synchronization
internal import Threads

/// Looks at the files that may change while the gateway runs: all in one round, on the thread for files. Nothing comes
/// back from there unless something has changed, so that an idle gateway wakes up as rarely as possible.
final class FileRounds: Sendable {
  /// Does what a change asks for.
  typealias Reaction = @Sendable () async -> Void
  /// Looks at some of the files; blocks. Returns the reaction to a change, nil if nothing has changed.
  typealias Look = @Sendable () -> Reaction?

  /// Has work done on the thread for files.
  typealias Work = @Sendable (@escaping @Sendable () -> Void) throws(ThreadError) -> Void

  private let add: Work
  private let looks: [Look]
  /// Whether a round, or what it has led to, is under way.
  private let isUnderWay = Atomic<Bool>(false)

  /// The interval of the rounds, in seconds: a call of `stat` for each file.
  private static let interval = 2

  init(by add: @escaping Work, _ looks: [Look]) {
    self.add = add
    self.looks = looks
  }

  /// Schedules the rounds.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.add(every: Self.interval, after: Self.interval) { [self] in begin() }
  }

  /// Begins a round, unless one is under way: a file system may not answer, or a reload may take long.
  func begin() {
    guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
    do throws(ThreadError) {
      try add { [self] in look() }
    } catch {
      // The next round may find a thread.
      end()
    }
  }

  private func look() {
    let reactions = looks.compactMap { $0() }
    guard !reactions.isEmpty else { return end() }
    Task {
      for react in reactions { await react() }
      end()
    }
  }

  private func end() { isUnderWay.store(false, ordering: .releasing) }
}
