internal import CLinux
package import Dispatch
package import NIOCore
internal import Synchronization
internal import Threads

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// An event loop on a thread of its own that waits for sockets by epoll.
///
/// It does what the loops of NIOPosix do, with less work for each event: descriptors are registered once, for changes
/// only (edge-triggered), so that neither a read nor the end of one is a system call; and a connection without handlers
/// in between hands its bytes to its reader without a channel pipeline (``SocketReader``).
///
/// The state of a loop is touched on its thread only, as the properties marked as unsafe rely on. Tasks come from
/// anywhere.
package final class SocketEventLoop: EventLoop {
  /// Tasks from anywhere.
  private struct Inbox {
    var tasks: [@Sendable () -> Void] = []
    /// Whether the loop waits for descriptors, and has to be woken for a task.
    var sleeps = false
    /// Whether the loop has ended, and does nothing any longer.
    var hasEnded = false
    /// Called when the loop has ended; empty while nobody has ended it.
    var completions: [@Sendable () -> Void] = []
  }

  private enum Phase {
    case running
    /// Descriptors have been closed, and the tasks that follow from that are performed.
    /// - turns: how many turns it may take.
    case ending(turns: Int)
    /// Nothing is performed any longer.
    case ended
  }

  private let inbox = Mutex(Inbox())
  /// `pthread_self()` of the loop's thread.
  private let thread = Atomic<UInt>(0)
  private let alarm: Alarm

  nonisolated(unsafe) private var phase = Phase.running
  nonisolated(unsafe) private var polled: EpollSet
  nonisolated(unsafe) private var timers = LoopTimers()
  /// Channels to read again in the next turn: epoll does not report their unread bytes once more.
  nonisolated(unsafe) private var readers: [SocketChannel] = []
  /// Tasks of the turn.
  nonisolated(unsafe) private var tasks: [@Sendable () -> Void] = []
  /// The buffers that its channels read into.
  nonisolated(unsafe) var receiveBuffers = ReceiveBuffers()
  /// Memory for the queue of whichever channel has something waiting at the moment.
  nonisolated(unsafe) var spareWrites: [PendingWrites.Entry] = []
  /// The attempts to connect that wait for room in the queues of Unix sockets.
  nonisolated(unsafe) var connectQueues: [SocketAddress: ConnectQueue] = [:]

  /// Turns that tasks may take after the loop's descriptors were closed: a task that follows itself for ever must not
  /// keep the process from ending.
  private static let endingTurns = 1_000

  /// - Parameter name: the thread's, at most 15 bytes.
  /// - Throws: `IOError`.
  init(name: String) throws {
    alarm = try Alarm()
    polled = try EpollSet()
    try polled.add(alarm, alarm.descriptor, for: .input)
    try start(name)
  }

  // MARK: Tasks

  package var inEventLoop: Bool { thread.load(ordering: .relaxed) == Self.currentThread }

  private static var currentThread: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  /// Performs a task in a later turn of the loop, from any thread. Dropped once the loop has ended.
  package func execute(_ task: @escaping @Sendable () -> Void) { _ = enqueue(task) }

  /// - Returns: whether the task will be performed; false once the loop has ended.
  private func enqueue(_ task: @escaping @Sendable () -> Void) -> Bool {
    let (isAccepted, wakes) = inbox.withLock { inbox in
      guard !inbox.hasEnded else { return (false, false) }
      inbox.tasks.append(task)
      defer { inbox.sleeps = false }
      return (true, inbox.sleeps)
    }
    // The loop itself performs its tasks before it waits again.
    if wakes, !inEventLoop { alarm.ring() }
    return isAccepted
  }

  /// Performs a task on the loop at a time, unless it is cancelled before.
  /// - Returns: a future of its result, which fails with `EventLoopError.shutdown` if the loop ends first.
  @discardableResult
  package func scheduleTask<T>(
    deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
  ) -> Scheduled<T> {
    let promise = makePromise(of: T.self)
    let timer = BoundTimer()
    let begin: @Sendable () -> Void = { [self] in
      // It may be cancelled on the loop before it was set from elsewhere.
      guard !timer.isOver else { return }
      if case .ended = phase { return promise.fail(EventLoopError.shutdown) }
      timer.set(
        timers.set(deadline, onEnd: { promise.fail(EventLoopError.shutdown) }) {
          _ = timer.end()
          do { promise.assumeIsolatedUnsafeUnchecked().succeed(try task()) } catch { promise.fail(error) }
        })
    }
    if inEventLoop { begin() } else if !enqueue(begin) { promise.fail(EventLoopError.shutdown) }
    return Scheduled(promise: promise) { [self] in
      let cancel: @Sendable () -> Void = { [self] in if let timer = timer.end() { timers.cancel(timer) } }
      if inEventLoop { cancel() } else { execute(cancel) }
    }
  }

  /// Performs a task on the loop after a delay, unless it is cancelled before.
  @discardableResult
  package func scheduleTask<T>(in delay: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
    scheduleTask(deadline: now + delay, task)
  }

  /// A timer that is set and cancelled on the loop, by closures that other threads may hold.
  private final class BoundTimer: Sendable {
    private enum State {
      case unset
      case set(LoopTimer)
      /// It has gone off, or was cancelled.
      case over
    }

    nonisolated(unsafe) private var state = State.unset

    var isOver: Bool { if case .over = state { true } else { false } }

    func set(_ timer: LoopTimer) { state = .set(timer) }

    /// - Returns: the timer that was set, if it was not over.
    func end() -> LoopTimer? {
      defer { state = .over }
      return if case .set(let timer) = state { timer } else { nil }
    }
  }

  /// Performs `body` on the loop after `delay`, unless it is cancelled before or the loop ends. On the loop only.
  func after(_ delay: TimeAmount, _ body: @escaping () -> Void) -> LoopTimer { timers.set(now + delay, body: body) }

  /// Performs `body` on the loop after `delay`, unless it is cancelled before; `onEnd` instead if the loop ends first.
  /// On the loop only.
  func after(_ delay: TimeAmount, onEnd: @escaping () -> Void, _ body: @escaping () -> Void) -> LoopTimer {
    timers.set(now + delay, onEnd: onEnd, body: body)
  }

  func cancel(_ timer: LoopTimer) { timers.cancel(timer) }

  // MARK: Descriptors

  /// - Throws: `IOError`; `EventLoopError.shutdown` when the loop ends: it would not close the descriptor any longer.
  func register(_ member: any PolledDescriptor, _ descriptor: CInt, for interest: Readiness) throws {
    guard case .running = phase else { throw EventLoopError.shutdown }
    try polled.add(member, descriptor, for: interest)
  }

  /// - Throws: `IOError`.
  func change(_ descriptor: CInt, to interest: Readiness) throws { try polled.change(descriptor, to: interest) }

  /// Hands a descriptor over to another member, as ``register(_:_:for:)`` had it.
  func handOver(_ descriptor: CInt, to member: any PolledDescriptor) { polled.handOver(descriptor, to: member) }

  /// Forgets a descriptor that stays open.
  func remove(_ descriptor: CInt) { polled.remove(descriptor) }

  /// Forgets a descriptor that is closed next.
  func forget(_ descriptor: CInt) { polled.forget(descriptor) }

  /// Has `channel` read again in the next turn, when everyone else was served.
  func readLater(_ channel: SocketChannel) { readers.append(channel) }

  // MARK: The thread

  /// - Throws: `IOError` if the system has no thread left.
  private func start(_ name: String) throws {
    do throws(ThreadError) {
      try DedicatedThread.start(named: name) { [self] in
        thread.store(Self.currentThread, ordering: .relaxed)
        run()
      }
    } catch {
      throw IOError(errnoCode: error.errnoCode, reason: "pthread_create")
    }
  }

  private func run() {
    while true {
      for index in 0..<polled.wait(atMost: timeToWait()) {
        if let (member, readiness) = polled.answer(index) { member.ready(readiness) }
      }
      for channel in takeReaders() { channel.readAgain() }
      runTimers()
      runTasks()
      if hasEnded() { return finish() }
    }
  }

  /// Milliseconds, rounded up; -1 for as long as it takes. From now on another thread that has a task wakes the loop.
  private func timeToWait() -> CInt {
    if !readers.isEmpty { return 0 }
    let hasTasks = inbox.withLock { inbox in
      inbox.sleeps = inbox.tasks.isEmpty
      return !inbox.sleeps
    }
    if hasTasks { return 0 }
    guard let next = timers.next else { return -1 }
    let left = (next - now).nanoseconds
    return left <= 0 ? 0 : CInt(clamping: (left - 1) / 1_000_000 + 1)
  }

  private func takeReaders() -> [SocketChannel] {
    guard !readers.isEmpty else { return [] }
    defer { readers = [] }
    return readers
  }

  private func runTimers() {
    guard timers.next != nil else { return }
    let turn = timers.beginTurn(at: now)
    while let body = timers.takeDue(in: turn) { body() }
  }

  /// Performs the tasks that there are; those that they add are for the next turn.
  private func runTasks() {
    inbox.withLock { inbox in
      inbox.sleeps = false
      swap(&inbox.tasks, &tasks)
    }
    guard !tasks.isEmpty else { return }
    for task in tasks { task() }
    tasks.removeAll(keepingCapacity: tasks.capacity <= 64)
  }

  // MARK: The end

  /// Ends the loop: see ``end(_:)``. Calls back without an error on the queue, also if the loop had ended.
  package func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
    end { queue.async { callback(nil) } }
  }

  /// Closes every descriptor, does what is left to do, and ends the thread.
  /// - Parameter completion: called when the loop has ended, also of a second call.
  func end(_ completion: @escaping @Sendable () -> Void) {
    let (hasEnded, isFirst) = inbox.withLock { inbox in
      guard !inbox.hasEnded else { return (true, false) }
      inbox.completions.append(completion)
      return (false, inbox.completions.count == 1)
    }
    if hasEnded { return completion() }
    guard isFirst else { return }
    execute { [self] in
      phase = .ending(turns: Self.endingTurns)
      for member in polled.all { member.loopEnds() }
    }
  }

  /// Whether the loop is to end and has nothing left to do.
  private func hasEnded() -> Bool {
    guard case .ending(let turns) = phase else { return false }
    endTimers()
    let isIdle = timers.next == nil
    let isOver = inbox.withLock { inbox in
      guard (inbox.tasks.isEmpty && isIdle) || turns == 0 else { return false }
      inbox.hasEnded = true
      inbox.tasks = []
      return true
    }
    phase = isOver ? .ended : .ending(turns: turns - 1)
    return isOver
  }

  /// Nothing waits for a time any longer.
  private func endTimers() { for body in timers.end() { body() } }

  private func finish() {
    endTimers()
    // Another thread may get the same number.
    thread.store(0, ordering: .relaxed)
    let completions = inbox.withLock { inbox in
      defer { inbox.completions = [] }
      return inbox.completions
    }
    for completion in completions { completion() }
  }
}

/// Wakes an event loop from another thread (eventfd(2)).
private final class Alarm: PolledDescriptor, Sendable {
  let descriptor: CInt

  /// - Throws: `IOError`.
  init() throws {
    descriptor = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "eventfd") }
  }

  deinit { close(descriptor) }

  func ring() { eventfd_write(descriptor, 1) }

  func ready(_ readiness: Readiness) {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
  }

  func loopEnds() {}
}
