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
  private let path: [UInt8]?
  /// The interval of ``alive()`` calls: half of `WATCHDOG_USEC`; nil without a watchdog.
  package let watchdogInterval: Duration?

  /// Reads the environment.
  package init() {
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    path = variable("NOTIFY_SOCKET").map { Array($0.utf8) }
    let isMeant = variable("WATCHDOG_PID").map { $0.utf8.elementsEqual("\(getpid())".utf8) } ?? true
    if isMeant, let text = variable("WATCHDOG_USEC"),
      let period = DecimalDigits.parse(text.utf8, limit: 999_999_999_999_999)
    {
      watchdogInterval = period > 0 ? .microseconds(max(1, period / 2)) : nil
    } else {
      watchdogInterval = nil
    }
  }

  /// The process serves.
  package func ready() { send("READY=1\nSTATUS=serving") }

  /// The process serves public routes; ``ready()`` follows when the store is open. The unit counts as started, because
  /// starting it again would not bring the store back.
  package func readyWithoutStore() { send("READY=1\nSTATUS=serving public routes, waiting for the session store") }

  /// The configuration is about to be read again; ``ready()`` follows. With the time, as systemd 253 asks for.
  package func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(Int(now.tv_sec) * 1_000_000 + Int(now.tv_nsec) / 1_000)\nSTATUS=reloading")
  }

  /// The process is about to end.
  package func stopping() { send("STOPPING=1\nSTATUS=finishing what is in flight") }

  /// The process still turns.
  package func alive() { send("WATCHDOG=1") }

  private func send(_ message: String) {
    var address = sockaddr_un()
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard var path, (1..<capacity).contains(path.count) else { return }
    address.sun_family = sa_family_t(AF_UNIX)
    // An abstract address is written with "@" for its zero byte.
    if path[0] == UInt8(ascii: "@") { path[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    let bytes = Array(message.utf8)
    // Best effort, as sd_notify is: a manager that is not there must not keep the gateway from serving.
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
