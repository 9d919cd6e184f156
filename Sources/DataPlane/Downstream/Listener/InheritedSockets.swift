internal import NIOCore
internal import Synchronization
internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Listening sockets that this process was started with (systemd's socket activation, sd_listen_fds(3)): another
/// process bound them and keeps them open, so that no connection is refused while the gateway restarts.
///
/// Each belongs to one acceptor, by its name (`LISTEN_FDNAMES`, `FileDescriptorName=` of the unit) or its address.
package final class InheritedSockets: Sendable {
  /// The sockets that no listener has taken yet.
  private let left: Mutex<[Socket]>

  private struct Socket: Sendable {
    let descriptor: CInt
    let name: String
    let address: BindAddress
  }

  /// None.
  package init() { left = Mutex([]) }

  /// Takes the sockets that the environment announces, and removes the announcement, which child processes must not
  /// apply to themselves.
  /// - Throws: ``InheritedSocketError`` when a descriptor is not a listening stream socket.
  package static func ofEnvironment() throws(InheritedSocketError) -> InheritedSockets {
    defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
    guard let pid = variable("LISTEN_PID").flatMap(number), pid == Int(getpid()),
      let count = variable("LISTEN_FDS").flatMap(number), count > 0
    else { return InheritedSockets() }
    let names = (variable("LISTEN_FDNAMES") ?? "").utf8
      .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    var sockets: [Socket] = []
    for index in 0..<min(count, limit) {
      let descriptor = firstDescriptor + CInt(index)
      let name = names.indices.contains(index) ? names[index] : ""
      sockets.append(Socket(descriptor: descriptor, name: name, address: try address(of: descriptor, name)))
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    return InheritedSockets(sockets)
  }

  /// SD_LISTEN_FDS_START.
  private static let firstDescriptor: CInt = 3
  /// More than this cannot be our listeners.
  private static let limit = 64

  private init(_ sockets: [Socket]) { left = Mutex(sockets) }

  /// Takes the socket of a listener, which the caller has to close; nil if there is none.
  /// - Throws: ``InheritedSocketError`` when the one of its name has another address.
  func take(for acceptor: AcceptorSettings) throws(InheritedSocketError) -> CInt? {
    let found = left.withLock { left in Self.place(of: acceptor, in: left).map { left.remove(at: $0) } }
    guard let found else { return nil }
    guard found.address.listensFor(acceptor.address) else {
      throw InheritedSocketError(
        descriptor: found.descriptor, name: found.name,
        what: "listens on \(found.address), and the configuration says \(acceptor.address)",
        remedy: "write the same address into ListenStream= and into the configuration")
    }
    return found.descriptor
  }

  /// Whether there is a socket for a listener.
  func hold(_ acceptor: AcceptorSettings) -> Bool { left.withLock { Self.place(of: acceptor, in: $0) != nil } }

  private static func place(of acceptor: AcceptorSettings, in sockets: [Socket]) -> Int? {
    sockets.firstIndex { $0.name.utf8.elementsEqual(acceptor.name.utf8) }
      ?? sockets.firstIndex { $0.address.listensFor(acceptor.address) }
  }

  /// Checks that every socket has been taken: a connection to one that no listener accepts from would wait for ever.
  /// - Throws: ``InheritedSocketError`` for the first that is left.
  package func requireNoneLeft() throws(InheritedSocketError) {
    guard let first = left.withLock({ $0.first }) else { return }
    throw InheritedSocketError(
      descriptor: first.descriptor, name: first.name,
      what: "listens on \(first.address), which is not a listener of the configuration",
      remedy: "take it out of the socket unit, or write its address or its FileDescriptorName= into the configuration")
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// Digits only.
  private static func number(_ text: String) -> Int? {
    DecimalDigits.parse(text.utf8, limit: 999_999_999)
  }

  private static func address(of descriptor: CInt, _ name: String) throws(InheritedSocketError) -> BindAddress {
    func option(_ option: CInt) -> CInt? {
      var value: CInt = 0
      var length = socklen_t(MemoryLayout<CInt>.size)
      return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }
    func problem(_ what: String) -> InheritedSocketError {
      InheritedSocketError(
        descriptor: descriptor, name: name, what: what, remedy: "use ListenStream= and Accept=no in the socket unit")
    }
    guard let type = option(SO_TYPE) else { throw problem("is not a socket") }
    guard type == CInt(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN) == 1 else {
      throw problem("is not a stream socket that listens")
    }
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard result == 0, let address = BindAddress(storage) else {
      throw problem("has an address that is neither IP nor a Unix socket's path")
    }
    return address
  }
}

/// A descriptor that the process was started with cannot be listened on.
package struct InheritedSocketError: Error, CustomStringConvertible {
  let descriptor: CInt
  let name: String
  let what: String
  let remedy: String

  package var description: String {
    "the inherited socket \(descriptor)\(name.isEmpty ? "" : " (\(name))") \(what); \(remedy)"
  }
}

extension BindAddress {
  /// Nil for an abstract Unix socket, and for other families.
  fileprivate init?(_ storage: sockaddr_storage) {
    var storage = storage
    switch CInt(storage.ss_family) {
    case AF_INET:
      let address = withUnsafeBytes(of: &storage) { $0.load(as: sockaddr_in.self) }
      let mapped = IPAddress.mapped(withUnsafeBytes(of: address.sin_addr) { [UInt8]($0) })
      self = .ip(host: IPAddress(bytes: mapped)?.description ?? "", port: UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = withUnsafeBytes(of: &storage) { $0.load(as: sockaddr_in6.self) }
      let bytes = withUnsafeBytes(of: address.sin6_addr) { [UInt8]($0) }
      self = .ip(host: IPAddress(bytes: bytes)?.description ?? "", port: UInt16(bigEndian: address.sin6_port))
    case AF_UNIX:
      let path = withUnsafeBytes(of: &storage) { bytes in
        bytes.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }.map { $0 }
      }
      guard !path.isEmpty else { return nil }
      self = .unix(path: String(decoding: path, as: UTF8.self))
    default: return nil
    }
  }

  /// Whether a socket with this address is one for `wanted`: the same port of the same address; port 0 wants any.
  fileprivate func listensFor(_ wanted: BindAddress) -> Bool {
    switch (self, wanted) {
    case (.unix(let path), .unix(let other)): path.utf8.elementsEqual(other.utf8)
    case (.ip(let host, let port), .ip(let other, let otherPort)):
      IPAddress(host) == IPAddress(other) && (port == otherPort || otherPort == 0)
    default: false
    }
  }
}
