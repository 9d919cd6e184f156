import Glibc

/// Ports of this machine's loopback, asked with plain sockets: the demo has no HTTP client before the gateway runs.
enum LoopbackPort {
  /// The ports that can be chosen.
  static let valid = 1...65_535

  /// The first port from `first` on that nobody listens on, at `127.0.0.1` or `::1` (a browser may try either).
  /// - Parameter taken: ports that are not free; the one that was found is among them afterwards.
  static func free(from first: Int, taken: inout Set<Int>) throws -> Int {
    guard valid.contains(first),
      let found = (first...min(first + 200, valid.upperBound)).first(where: { !taken.contains($0) && isFree($0) })
    else { throw DemoError.noPort(first) }
    taken.insert(found)
    return found
  }

  /// Whether a GET is answered with a status from 200 to 299.
  static func answers(_ port: Int, path: String) -> Bool {
    guard let socket = open(AF_INET) else { return false }
    defer { close(socket) }
    var patience = timeval(tv_sec: 2, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    guard withIPv4(port, { connect(socket, $0, $1) }) == 0 else { return false }
    let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n".utf8)
    guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return false }
    // Read to the end: closing earlier would reset the connection and put a complaint into the other's log.
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    var count = recv(socket, &chunk, chunk.count, 0)
    while count > 0, answer.count < 65_536 {
      answer += chunk[..<count]
      count = recv(socket, &chunk, chunk.count, 0)
    }
    // "HTTP/1.1 200"
    return answer.count >= 12 && answer.starts(with: "HTTP/1.".utf8) && answer[9] == UInt8(ascii: "2")
  }

  private static func isFree(_ port: Int) -> Bool {
    [AF_INET, AF_INET6].allSatisfy { family in
      // A machine without IPv6 has nobody there.
      guard let socket = open(family) else { return family == AF_INET6 }
      defer { close(socket) }
      let result =
        family == AF_INET
        ? withIPv4(port) { bind(socket, $0, $1) } : withIPv6(port) { bind(socket, $0, $1) }
      return result == 0 || (family == AF_INET6 && errno == EADDRNOTAVAIL)
    }
  }

  private static func open(_ family: Int32) -> Int32? {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    // A port whose last connections are still fading away counts as free, as it does for servers.
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size))
    return descriptor
  }

  private static func withIPv4(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(clamping: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private static func withIPv6(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = UInt16(clamping: port).bigEndian
    address.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
  }
}
