package import Dispatch
package import NIOCore
internal import Synchronization

/// Event loops, each on a thread of its own.
package final class SocketEventLoopGroup: EventLoopGroup {
  /// Never empty.
  package let loops: [SocketEventLoop]
  private let turn = Atomic<Int>(0)

  /// - Parameter count: threads, at least one.
  /// - Throws: `LoopCreationError` if the system has no thread or no descriptor for one.
  package init(loops count: Int) throws(LoopCreationError) {
    var loops: [SocketEventLoop] = []
    do {
      for number in 0..<max(1, count) { loops.append(try SocketEventLoop(name: "cordon-loop-\(number)")) }
    } catch {
      for loop in loops { loop.end {} }
      throw LoopCreationError(error)
    }
    self.loops = loops
  }

  /// One after the other.
  package func next() -> any EventLoop {
    loops[Int(UInt(bitPattern: turn.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(loops.count))]
  }

  /// Every loop, in the order of ``loops``.
  package func makeIterator() -> EventLoopIterator { EventLoopIterator(loops) }

  /// Ends every loop at once, and calls back without an error on the queue when the last has ended.
  package func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
    let countdown = Countdown(left: loops.count) { queue.async { callback(nil) } }
    for loop in loops { loop.end { countdown.one() } }
  }

  /// Does something when all have ended.
  private final class Countdown: Sendable {
    private let left: Mutex<Int>
    private let body: @Sendable () -> Void

    init(left: Int, _ body: @escaping @Sendable () -> Void) {
      self.left = Mutex(left)
      self.body = body
    }

    func one() {
      let isLast = left.withLock { left in
        left -= 1
        return left == 0
      }
      if isLast { body() }
    }
  }
}
