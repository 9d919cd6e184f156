internal import WebFormats

/// The authorities that requests may be addressed to: that of `public_url`, its aliases (`listen.hosts`) and those of
/// `[[host]]`.
///
/// A class, because each request uses it, and a value of its size would be copied.
package final class AuthorityList: Sendable {
  /// The meaning of an authority of the list.
  package enum Place: Sendable, Equatable {
    /// `public_url`.
    case publicURL
    /// One of `listen.hosts`.
    case alias
    /// The `[[host]]` at this place of the configured order.
    case site(Int)
  }

  private let origin: Authority
  /// The origin's authority as browsers write it. Nearly all requests name it so, byte for byte, and need not be read.
  private let usual: [UInt8]
  /// The others: the host in lower case, a zero byte, and the two bytes of the port.
  private let others: ByteTrie
  /// By node of `others`: the number of the `[[host]]`, ``alias``, or ``none`` inside of a name.
  private let numberOfNode: [Int32]
  private let defaultPort: UInt16

  private static let none: Int32 = -1
  private static let alias: Int32 = -2

  /// - Parameters:
  ///   - origin: the public origin; its scheme's port may be left out of any authority.
  ///   - hosts: the aliases, each a host with or without a port.
  ///   - sites: the origin of each `[[host]]`. One that names `origin` or an alias as well has no effect.
  /// - Throws: the first alias that is not an authority.
  package init(
    origin: PublicOrigin, hosts: [String] = [], sites: [PublicOrigin] = []
  ) throws(AuthorityListError) {
    defaultPort = origin.scheme.defaultPort
    self.origin = Authority(host: Array(origin.host.utf8), port: origin.port)
    usual = Array(origin.authority.utf8)
    var others = ByteTrie()
    var numberOfNode = [Self.none]
    func insert(_ host: [UInt8], _ port: UInt16, _ number: Int32) {
      let node = others.insert(host + [0, UInt8(port >> 8), UInt8(truncatingIfNeeded: port)])
      while numberOfNode.count < others.nodeCount { numberOfNode.append(Self.none) }
      if numberOfNode[node] == Self.none { numberOfNode[node] = number }
    }
    for (index, text) in hosts.enumerated() {
      guard let authority = Authority(parsing: text.utf8) else { throw AuthorityListError(index: index, text: text) }
      insert(authority.host, authority.port ?? defaultPort, Self.alias)
    }
    for (number, site) in sites.enumerated() { insert(Array(site.host.utf8), site.port, Int32(number)) }
    self.others = others
    self.numberOfNode = numberOfNode
  }

  /// Finds the bytes of a `Host` field (or `:authority`); nil if they are not in the list: the host without regard
  /// to ASCII case, the port equal, or left out where it is the scheme's own. A trailing dot, an empty port and a port
  /// with a leading zero are not accepted. Without allocation; the time does not depend on the number of hosts.
  package func place(_ authority: Span<UInt8>) -> Place? {
    if isUsual(authority) { return .publicURL }
    guard let (end, given) = Authority.split(authority) else { return nil }
    let port = given ?? defaultPort
    if port == origin.port, isHost(of: origin, authority, end: end) { return .publicURL }
    var node = 0
    for index in 0..<end {
      node = others.child(of: node, authority[index].asciiLowercased)
      if node < 0 { return nil }
    }
    node = others.child(of: node, 0)
    if node >= 0 { node = others.child(of: node, UInt8(port >> 8)) }
    if node >= 0 { node = others.child(of: node, UInt8(truncatingIfNeeded: port)) }
    guard node >= 0 else { return nil }
    let number = numberOfNode[node]
    if number >= 0 { return .site(Int(number)) }
    return number == Self.alias ? .alias : nil
  }

  private func isUsual(_ authority: Span<UInt8>) -> Bool {
    guard authority.count == usual.count else { return false }
    for index in usual.indices where usual[index] != authority[index] { return false }
    return true
  }

  private func isHost(of expected: Authority, _ authority: Span<UInt8>, end: Int) -> Bool {
    guard expected.host.count == end else { return false }
    for index in 0..<end where expected.host[index] != authority[index].asciiLowercased { return false }
    return true
  }
}

/// A problem with one of `listen.hosts`.
package struct AuthorityListError: Error, Sendable, Equatable {
  /// Its place in the list.
  package var index: Int
  /// The entry as it is written.
  package var text: String

  /// The problem and its remedy.
  package var message: String {
    "\"\(text)\" is not an authority; write a host, and a port if it is not the usual one, as in "
      + "\"app.example.com:8443\""
  }
}
