internal import NIOCore

/// One thing to do at a time.
final class LoopTimer {
  let deadline: NIODeadline
  /// Timers of one deadline go off in the order in which they were set.
  fileprivate let order: UInt64
  fileprivate var place: Int?
  fileprivate let body: () -> Void
  fileprivate let onEnd: () -> Void

  fileprivate init(
    _ deadline: NIODeadline, order: UInt64, body: @escaping () -> Void, onEnd: @escaping () -> Void
  ) {
    self.deadline = deadline
    self.order = order
    self.body = body
    self.onEnd = onEnd
  }

  fileprivate func precedes(_ other: LoopTimer) -> Bool {
    deadline == other.deadline ? order < other.order : deadline < other.deadline
  }
}

/// The timers of one event loop: a binary heap whose members know their places.
struct LoopTimers {
  private var heap: [LoopTimer] = []
  private var lastOrder: UInt64 = 0
  /// The time of the last turn. A timer for a moment before it is due after those that are due already.
  private var turnTime = NIODeadline.distantPast

  /// A turn of the loop. The timers that are set within it are due in the next one at the earliest: a timer that sets
  /// another for now, and so on, must not keep the loop from its descriptors.
  struct Turn {
    fileprivate let now: NIODeadline
    /// The last timer that was set before the turn.
    fileprivate let lastOrder: UInt64
  }

  /// The earliest deadline.
  var next: NIODeadline? { heap.first?.deadline }

  /// - Parameters:
  ///   - body: performed at the deadline.
  ///   - onEnd: performed instead when the loop ends before.
  mutating func set(
    _ deadline: NIODeadline, onEnd: @escaping () -> Void = {}, body: @escaping () -> Void
  ) -> LoopTimer {
    lastOrder += 1
    let timer = LoopTimer(max(deadline, turnTime), order: lastOrder, body: body, onEnd: onEnd)
    heap.append(timer)
    timer.place = heap.count - 1
    rise(heap.count - 1)
    return timer
  }

  /// Forgets a timer; one that has gone off, or was forgotten before, changes nothing.
  mutating func cancel(_ timer: LoopTimer) {
    guard let place = timer.place else { return }
    timer.place = nil
    let last = heap.removeLast()
    guard place < heap.count else { return }
    heap[place] = last
    last.place = place
    rise(place)
    sink(last.place ?? place)
  }

  mutating func beginTurn(at now: NIODeadline) -> Turn {
    turnTime = now
    return Turn(now: now, lastOrder: lastOrder)
  }

  /// Removes the first timer that is due in a turn, and returns what it does; nil if none is left.
  mutating func takeDue(in turn: Turn) -> (() -> Void)? {
    guard let first = heap.first, first.deadline <= turn.now, first.order <= turn.lastOrder else { return nil }
    cancel(first)
    return first.body
  }

  /// Removes everything, and returns what is to be done about each.
  mutating func end() -> [() -> Void] {
    defer { heap = [] }
    for timer in heap { timer.place = nil }
    return heap.map(\.onEnd)
  }

  private mutating func rise(_ start: Int) {
    var place = start
    while place > 0, heap[place].precedes(heap[(place - 1) / 2]) {
      exchange(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      if least == place { return }
      exchange(place, least)
      place = least
    }
  }

  private mutating func exchange(_ first: Int, _ second: Int) {
    heap.swapAt(first, second)
    heap[first].place = first
    heap[second].place = second
  }
}
