internal import NIOCore

/// The time-outs of all connections of one event loop, kept in 512 slots of a quarter of a second.
///
/// A request moves a connection's deadline several times; here that is the store of one integer. Only when the slot
/// comes round does the wheel look whether the deadline has moved on meanwhile. Nothing is scheduled while nothing
/// waits.
final class TimerWheel {
  private let eventLoop: any EventLoop
  private let origin: NIODeadline
  private var slots: [TimedHandler?] = Array(repeating: nil, count: TimerWheel.slotCount)
  /// The last tick that was worked through.
  private var turned = 0
  private var waiting = 0
  private var isTurning = false

  private static let slotCount = 512
  static let tick: TimeAmount = .milliseconds(250)

  init(eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    origin = eventLoop.now
  }

  /// The clock of the event loop.
  var now: NIODeadline { eventLoop.now }

  /// Sets the deadline of `handler` to `duration` from `now`, rounded up to whole ticks.
  @inline(__always)
  func arm(_ handler: TimedHandler, after duration: TimeAmount, now: NIODeadline) {
    let (ticks, rest) = duration.nanoseconds.quotientAndRemainder(dividingBy: Self.tick.nanoseconds)
    let tick = tickNumber(now) + Int(ticks) + (rest == 0 ? 1 : 2)
    handler.dueTick = tick
    // A slot that comes round before the deadline serves: the handler moves on from there.
    if handler.slotTick >= 0 && handler.slotTick <= tick { return }
    insert(handler, at: tick)
  }

  /// Takes the deadline away; the handler leaves its slot when that comes round, or by ``remove(_:)``.
  @inline(__always)
  func disarm(_ handler: TimedHandler) { handler.dueTick = .max }

  /// Forgets `handler` at once.
  func remove(_ handler: TimedHandler) {
    handler.dueTick = .max
    if handler.slotTick >= 0 { unlink(handler) }
  }

  @inline(__always)
  private func tickNumber(_ now: NIODeadline) -> Int { Int((now - origin).nanoseconds / Self.tick.nanoseconds) }

  private func insert(_ handler: TimedHandler, at tick: Int) {
    if handler.slotTick >= 0 { unlink(handler) }
    if waiting == 0 { turned = tickNumber(eventLoop.now) }
    // Beyond one round the handler stops half-way and moves on from there.
    let place = min(max(tick, turned + 1), turned + Self.slotCount - 1)
    let slot = place % Self.slotCount
    handler.slotTick = place
    handler.previousInSlot = nil
    handler.nextInSlot = slots[slot]
    slots[slot]?.previousInSlot = handler
    slots[slot] = handler
    waiting += 1
    if !isTurning { schedule() }
  }

  private func unlink(_ handler: TimedHandler) {
    if let previous = handler.previousInSlot {
      previous.nextInSlot = handler.nextInSlot
    } else {
      slots[handler.slotTick % Self.slotCount] = handler.nextInSlot
    }
    handler.nextInSlot?.previousInSlot = handler.previousInSlot
    handler.nextInSlot = nil
    handler.previousInSlot = nil
    handler.slotTick = -1
    waiting -= 1
  }

  private func schedule() {
    isTurning = true
    let wheel = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleTask(in: Self.tick) { wheel.value.turn() }
  }

  private func turn() {
    isTurning = false
    let now = tickNumber(eventLoop.now)
    while turned < now, waiting > 0 {
      turned += 1
      turnSlot(turned % Self.slotCount)
    }
    turned = now
    if waiting > 0, !isTurning { schedule() }
  }

  private func turnSlot(_ slot: Int) {
    var next = slots[slot]
    while let handler = next {
      next = handler.nextInSlot
      guard handler.slotTick <= turned else { continue }
      unlink(handler)
      if handler.dueTick <= turned {
        handler.dueTick = .max
        handler.timedOut()
        // The handler may have changed this slot: begin it again. Every visited handler is unlinked, so this ends.
        next = slots[slot]
      } else if handler.dueTick != .max {
        insert(handler, at: handler.dueTick)
      }
    }
  }
}

/// Something with one deadline in a ``TimerWheel``.
class TimedHandler {
  /// The tick of the deadline, `.max` without one.
  fileprivate(set) final var dueTick = Int.max
  /// The tick of the slot that this is linked into, -1 while it is not.
  fileprivate final var slotTick = -1
  fileprivate final var nextInSlot: TimedHandler?
  // The slot holds every linked handler strongly, so what is linked before this one is alive.
  fileprivate final unowned(unsafe) var previousInSlot: TimedHandler?

  /// Called when the deadline has passed.
  func timedOut() {}
}
