internal import WebFormats

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
      guard let authority = Authority(parsing: text.utf8) else { throw AuthorityProblem(index: index, text: text) }
      let number = authority.port ?? defaultPort
      _ = others.insert(authority.host + [0, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
    }
    self.others = others
  }

  /// Whether the bytes of a `Host` field name `public_url` itself, not one of the other hosts.
  package func isOrigin(_ authority: Span<UInt8>) -> Bool {
    guard let (end, port) = Authority.split(authority) else { return false }
    return port ?? defaultPort == origin.port && isHost(of: origin, authority, end: end)
  }

  /// Whether the bytes of a `Host` field (or `:authority`) name one of them: the host without regard to ASCII case, the
  /// port equal, or left out where it is the scheme's own. A trailing dot, an empty port and a port with a leading
  /// zero are not accepted. Without allocation; the time does not depend on the number of hosts.
  package func match(_ authority: Span<UInt8>) -> Bool {
    guard let (end, given) = Authority.split(authority) else { return false }
    let port = given ?? defaultPort
    if port == origin.port, isHost(of: origin, authority, end: end) { return true }
    var node = 0
    for index in 0..<end {
      node = others.child(of: node, authority[index].asciiLowercased)
      if node < 0 { return false }
    }
    node = others.child(of: node, 0)
    if node >= 0 { node = others.child(of: node, UInt8(port >> 8)) }
    if node >= 0 { node = others.child(of: node, UInt8(truncatingIfNeeded: port)) }
    return node >= 0
  }

  private func isHost(of expected: Authority, _ authority: Span<UInt8>, end: Int) -> Bool {
    guard expected.host.count == end else { return false }
    for index in 0..<end where expected.host[index] != authority[index].asciiLowercased { return false }
    return true
  }
}

/// A problem with one of `listen.hosts`.
package struct AuthorityProblem: Error, Sendable, Equatable {
  /// Its place in the list.
  package var index: Int
  package var text: String

  /// The problem and its remedy.
  package var message: String {
    "\"\(text)\" is no authority; write a host, and a port if it is not the usual one, as in \"app.example.com:8443\""
  }
}
