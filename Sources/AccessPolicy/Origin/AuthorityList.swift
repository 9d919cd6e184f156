/// The authorities that requests may be addressed to: `public_url`'s and those of `listen.hosts`.
package struct AuthorityList: Sendable {
  private let origin: Authority
  /// The others: the host in lower case, a zero byte, and the two bytes of the port.
  private let others: ByteTrie
  private let defaultPort: UInt16

  /// - Parameters:
  ///   - origin: the public origin; its scheme's port may be left out of any authority.
  ///   - hosts: more authorities, each a host with or without a port.
  /// - Throws: the first host that is none.
  package init(origin: PublicOrigin, hosts: [String] = []) throws(AuthorityProblem) {
    defaultPort = origin.scheme.defaultPort
    self.origin = Authority(host: Array(origin.host.utf8), port: origin.port)
    var others = ByteTrie()
    for (index, text) in hosts.enumerated() {
      guard let (host, port) = Authority.parse(Array(text.utf8).span) else {
        throw AuthorityProblem(index: index, text: text)
      }
      let number = port ?? defaultPort
      _ = others.insert(host + [0, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
    }
    self.others = others
  }

  /// Whether the bytes of a `Host` field name `public_url` itself, not one of the other hosts.
  package func isOrigin(_ authority: Span<UInt8>) -> Bool {
    guard let end = Host.end(in: authority) else { return false }
    let port = end < authority.count ? Host.port(in: authority, from: end + 1) : defaultPort
    return port == origin.port && origin.hasHost(authority, end: end)
  }

  /// Whether the bytes of a `Host` field name this machine itself: `localhost`, a name below it, 127.0.0.0/8 or
  /// `[::1]`, with any port.
  package static func isLoopback(_ authority: Span<UInt8>) -> Bool {
    guard let end = Host.end(in: authority) else { return false }
    guard end == authority.count || Host.port(in: authority, from: end + 1) != nil else { return false }
    return Host.isLoopback((0..<end).map { authority[$0] })
  }

  /// Whether the bytes of a `Host` field (or `:authority`) name one of them: the host without regard to ASCII case, the
  /// port equal, or left out where it is the scheme's own. A trailing dot, an empty port and a port with a leading
  /// zero are not accepted. Without allocation; the time does not depend on the number of hosts.
  package func match(_ authority: Span<UInt8>) -> Bool {
    guard let end = Host.end(in: authority) else { return false }
    var port = defaultPort
    if end < authority.count {
      guard let given = Host.port(in: authority, from: end + 1) else { return false }
      port = given
    }
    if port == origin.port, origin.hasHost(authority, end: end) { return true }
    var node = 0
    for index in 0..<end {
      node = others.child(of: node, PathByte.folded(authority[index]))
      if node < 0 { return false }
    }
    node = others.child(of: node, 0)
    if node >= 0 { node = others.child(of: node, UInt8(port >> 8)) }
    if node >= 0 { node = others.child(of: node, UInt8(truncatingIfNeeded: port)) }
    return node >= 0
  }
}

/// What is wrong with one of `listen.hosts`.
package struct AuthorityProblem: Error, Sendable, Equatable {
  /// Its place in the list.
  package var index: Int
  package var text: String

  /// What is wrong, and the remedy.
  package var message: String {
    "\"\(text)\" is no authority; write a host, and a port if it is not the usual one, as in \"app.example.com:8443\""
  }
}

/// A host in lower case and a port.
struct Authority: Sendable {
  var host: [UInt8]
  var port: UInt16

  func hasHost(_ authority: Span<UInt8>, end: Int) -> Bool {
    guard host.count == end else { return false }
    for index in 0..<end where host[index] != PathByte.folded(authority[index]) { return false }
    return true
  }

  /// A host, in lower case, and a port if there is one; nil if either is malformed, or if browsers would read the name
  /// as an IPv4 address other than the one that is written.
  static func parse(_ text: Span<UInt8>) -> (host: [UInt8], port: UInt16?)? {
    guard let end = Host.end(in: text) else { return nil }
    let host = (0..<end).map { PathByte.folded(text[$0]) }
    guard !Host.endsInNumber(host) || Host.isIPv4(host) else { return nil }
    guard end < text.count else { return (host, nil) }
    guard let port = Host.port(in: text, from: end + 1) else { return nil }
    return (host, port)
  }
}
