/// Apple's rules for redirect URIs: https, a domain name that is neither an IP address nor localhost, no fragment
/// (Apple, "Configure Sign in with Apple for the web").
enum RedirectURIRules {
  /// The problem of a URI, if there is one.
  ///
  /// - Parameter allowingLoopback: also take `http` on `localhost`, `127.0.0.1` and `[::1]`. Apple never does; a
  ///   gateway on the developer's own machine has nothing else.
  static func problem(of uri: String, allowingLoopback: Bool) -> String? {
    let bytes = Array(uri.utf8)
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return "only printable ASCII without spaces" }
    guard !bytes.contains(UInt8(ascii: "#")) else { return "must not have a fragment" }
    let isHTTPS = bytes.starts(with: "https://".utf8)
    let isHTTP = bytes.starts(with: "http://".utf8)
    guard isHTTPS || isHTTP else { return "must begin with https://" }
    let authority = bytes.dropFirst(isHTTPS ? 8 : 7).prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
    }
    guard !authority.contains(UInt8(ascii: "@")) else { return "must not name a user" }
    let host = String(decoding: hostBytes(of: authority), as: UTF8.self)
    if allowingLoopback, ["localhost", "127.0.0.1", "[::1]"].contains(host) { return nil }
    guard isHTTPS else { return "must begin with https://" }
    return domainProblem(host)
  }

  private static func hostBytes(of authority: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    if authority.first == UInt8(ascii: "["), let end = authority.firstIndex(of: UInt8(ascii: "]")) {
      return authority[...end]
    }
    return authority.prefix { $0 != UInt8(ascii: ":") }
  }

  private static func domainProblem(_ host: String) -> String? {
    guard host != "localhost" else { return "must not be localhost" }
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let wellFormed = labels.allSatisfy { label in
      !label.isEmpty && label.count <= 63
        && label.allSatisfy { byte in
          (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
    }
    guard wellFormed, labels.count >= 2, let last = labels.last else { return "must have a domain name" }
    let isNumeric = last.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isNumeric ? "must not be an IP address" : nil
  }
}
