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
/// Each belongs to one acceptor, by its name (`LISTEN_FDNAMES`, `FileDescriptorName=` of the unit), or by its address
/// if its name is no acceptor's.
package final class InheritedSockets: Sendable {
  /// The sockets that no listener has taken yet.
  private let left: Mutex<[Socket]>
  private let acceptors: [AcceptorSettings]

  private struct Socket: Sendable {
    let descriptor: CInt
    let name: String
    let address: BindAddress
  }

  /// No sockets.
  package init() {
    left = Mutex([])
    acceptors = []
  }

  /// Takes the sockets that the environment announces, and removes the announcement, which child processes must not
  /// apply to themselves.
  /// - Parameter acceptors: all of the process.
  /// - Throws: ``InheritedSocketError`` when a descriptor is not a listening stream socket, or has the name of an
  ///   acceptor with another address.
  package static func ofEnvironment(
    for acceptors: [AcceptorSettings]
  ) throws(InheritedSocketError) -> InheritedSockets {
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
      let socket = Socket(descriptor: descriptor, name: name, address: try address(of: descriptor, name))
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      try requireAddress(of: socket, acceptors)
      sockets.append(socket)
    }
    return InheritedSockets(sockets, acceptors)
  }

  /// SD_LISTEN_FDS_START.
  private static let firstDescriptor: CInt = 3
  /// More than this cannot be our listeners.
  private static let limit = 64

  private init(_ sockets: [Socket], _ acceptors: [AcceptorSettings]) {
    left = Mutex(sockets)
    self.acceptors = acceptors
  }

  private static func requireAddress(
    of socket: Socket, _ acceptors: [AcceptorSettings]
  ) throws(InheritedSocketError) {
    guard let acceptor = acceptors.first(where: { $0.isNamed(socket.name) }),
      !socket.address.listensFor(acceptor.address)
    else { return }
    throw InheritedSocketError(
      descriptor: socket.descriptor, name: socket.name,
      what: "listens on \(socket.address), and the configuration says \(acceptor.address)",
      remedy: "write the same address into ListenStream= and into the configuration")
  }

  /// Takes the socket of a listener, which the caller has to close; nil if there is none.
  func take(for acceptor: AcceptorSettings) -> CInt? {
    left.withLock { left in place(of: acceptor, in: left).map { left.remove(at: $0).descriptor } }
  }

  /// Whether there is a socket for a listener.
  func hold(_ acceptor: AcceptorSettings) -> Bool { left.withLock { place(of: acceptor, in: $0) != nil } }

  private func place(of acceptor: AcceptorSettings, in sockets: [Socket]) -> Int? {
    sockets.firstIndex { acceptor.isNamed($0.name) }
      ?? sockets.firstIndex { socket in
        socket.address.listensFor(acceptor.address) && !acceptors.contains { $0.isNamed(socket.name) }
      }
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

extension AcceptorSettings {
  fileprivate func isNamed(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }
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
