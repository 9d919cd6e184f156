internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Reports the state of the process to the service manager (systemd's notification protocol, sd_notify(3)): one
/// datagram to the Unix socket that `NOTIFY_SOCKET` names. Without that variable, or without a receiver, nothing is
/// sent.
package struct ServiceManager: Sendable {
  private let address: UnixSocketAddress?
  /// The interval of ``alive()`` calls: half of `WATCHDOG_USEC`; nil without a watchdog.
  package let watchdogInterval: Duration?

  /// Reads the environment.
  package init() {
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
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

  /// The process is about to end.
  package func stopping() { send("STOPPING=1\nSTATUS=finishing what is in flight") }

  /// The process is alive (watchdog ping).
  package func alive() { send("WATCHDOG=1") }

  private func send(_ message: String) {
    let bytes = Array(message.utf8)
    // Best effort, like sd_notify: a missing manager must not prevent the gateway from serving.
    _ = address?.withDatagramSocket { opened, address, length in
      _ = sendto(
        opened, bytes, bytes.count, CInt(MSG_NOSIGNAL), address.assumingMemoryBound(to: sockaddr.self), length)
      close(opened)
    }
  }
}
