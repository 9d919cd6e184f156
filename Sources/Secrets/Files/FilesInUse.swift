internal import Synchronization

/// The files that threads of this process look at or read at the moment. One that stays here for seconds is on a file
/// system that does not answer.
package enum FilesInUse {
  /// One use of one file.
  package struct Use: Sendable, Equatable {
    /// The file or folder, as its user named it.
    package let path: String
    /// The moment at which the use began, of the clock that stands still while the machine sleeps.
    package let began: SuspendingClock.Instant

    /// A use that began at a moment.
    package init(path: String, began: SuspendingClock.Instant) {
      self.path = path
      self.began = began
    }
  }

  private struct State {
    var uses: [Int: Use] = [:]
    var lastNumber = 0
  }

  private static let state = Mutex(State())

  /// The use that began first; nil if there is none.
  package static var oldest: Use? { state.withLock { $0.uses.values.min { $0.began < $1.began } } }

  /// Calls `body`, which uses a file or a folder.
  package static func during<Result, Failure: Error>(
    _ path: String, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let number = begin(path)
    defer { end(number) }
    return try body()
  }

  static func begin(_ path: String) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.uses[state.lastNumber] = Use(path: path, began: .now)
      return state.lastNumber
    }
  }

  static func end(_ number: Int) { state.withLock { $0.uses[number] = nil } }
}
