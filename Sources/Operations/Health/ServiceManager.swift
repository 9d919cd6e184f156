internal import Synchronization
internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Reports the state of the process to the service manager (systemd's notification protocol, sd_notify(3)): one
/// datagram to the Unix socket that `NOTIFY_SOCKET` names. Without that variable, or without a receiver, nothing is
/// sent.
///
/// No call blocks: a manager that does not read its socket (a container runtime that hangs, say) must stop neither a
/// reload nor the shutdown. A message about the state that the socket has no room for is kept, and sent again by
/// ``sendAgain()``.
package final class ServiceManager: Sendable {
  /// The service manager of this process.
  package static let process = ServiceManager { name in getenv(name).map { String(cString: $0) } }

  private struct Outbox {
    /// Messages that were not taken, the oldest first.
    var waiting: [String] = []
    var refusal = Refusal.none

    /// Notes that a message was not taken.
    mutating func noteRefusal() { if refusal == .none { refusal = .unreported } }
  }

  /// The first message that was not taken at the first attempt.
  private enum Refusal {
    /// There was none.
    case none
    /// The log does not say so yet.
    case unreported
    /// Further ones are not reported.
    case reported
  }

  private let address: UnixSocketAddress?
  private let outbox = Mutex(Outbox())
  /// The interval of ``alive()`` calls: half of `WATCHDOG_USEC`; nil without a watchdog.
  package let watchdogInterval: Duration?

  /// The number of messages that are kept. The newest have the state of the process.
  private static let capacity = 8

  /// - Parameter variable: the value of an environment variable.
  package init(_ variable: (_ name: String) -> String?) {
    address = variable("NOTIFY_SOCKET").flatMap { UnixSocketAddress($0) }
    let isMeant = variable("WATCHDOG_PID").map { $0.utf8.elementsEqual("\(getpid())".utf8) } ?? true
    if isMeant, let text = variable("WATCHDOG_USEC"),
      let period = DecimalDigits.parse(text.utf8, limit: 999_999_999_999_999)
    {
      watchdogInterval = period > 0 ? .microseconds(max(1, period / 2)) : nil
    } else {
      watchdogInterval = nil
    }
  }

  /// The process serves requests.
  package func ready() { send("READY=1\nSTATUS=serving") }

  /// The process serves public routes; ``ready()`` follows when the store is open. The unit counts as started, because
  /// starting it again would not bring the store back.
  package func readyWithoutStore() { send("READY=1\nSTATUS=serving public routes, waiting for the session store") }

  /// The configuration is about to be reloaded; ``ready()`` follows. With the time that systemd 253 requires.
  package func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(Int(now.tv_sec) * 1_000_000 + Int(now.tv_nsec) / 1_000)\nSTATUS=reloading")
  }

  /// The process is about to end: what was not taken before does not matter any longer.
  package func stopping() {
    outbox.withLock { $0.waiting = [] }
    send("STOPPING=1\nSTATUS=finishing what is in flight")
  }

  /// The process is alive (watchdog ping). Not kept if it is not taken: the next one follows.
  /// - Returns: whether it was taken.
  @discardableResult
  package func alive() -> Bool {
    outbox.withLock { outbox in
      deliver(&outbox)
      guard outbox.waiting.isEmpty else { return false }
      let isTaken = attempt("WATCHDOG=1")
      if !isTaken { outbox.noteRefusal() }
      return isTaken
    }
  }

  /// Sends what was not taken before.
  /// - Returns: whether the manager has not taken a message, once in the life of the process: for the log.
  package func sendAgain() -> Bool {
    outbox.withLock { outbox in
      deliver(&outbox)
      guard outbox.refusal == .unreported else { return false }
      outbox.refusal = .reported
      return true
    }
  }

  private func send(_ message: String) {
    outbox.withLock { outbox in
      outbox.waiting.append(message)
      if outbox.waiting.count > Self.capacity { outbox.waiting.removeFirst() }
      deliver(&outbox)
    }
  }

  /// Sends what waits, in its order, as far as it is taken.
  private func deliver(_ outbox: inout Outbox) {
    while let next = outbox.waiting.first {
      guard attempt(next) else {
        outbox.noteRefusal()
        return
      }
      outbox.waiting.removeFirst()
    }
  }

  /// - Returns: false if the message can be taken later. Without a receiver it never is, which is no failure: a missing
  ///   manager must not prevent the gateway from serving.
  private func attempt(_ message: String) -> Bool {
    guard let address else { return true }
    let bytes = Array(message.utf8)
    let isDone = address.withDatagramSocket { opened, address, length -> Bool in
      let count = sendto(
        opened, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT),
        address.assumingMemoryBound(to: sockaddr.self), length)
      let number = errno
      close(opened)
      return count >= 0 || ![EAGAIN, EWOULDBLOCK, EINTR, ENOBUFS, ENOMEM].contains(number)
    }
    return isDone ?? false
  }
}
