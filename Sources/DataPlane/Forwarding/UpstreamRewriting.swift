internal import HTTPWire
internal import WebFormats

/// The rewriting of requests to one upstream, and of its responses. A class, because every request that needs it holds
/// on to it.
final class UpstreamRewriting: Sendable {
  /// `Host` as the upstream gets it; nil as it was received.
  let host: [UInt8]?
  /// ``host`` without its port, in lower case.
  let hostName: [UInt8]?
  /// The path prefix that requests lose and responses get back: begins with a slash and does not end with one; nil for
  /// none.
  let prefix: [UInt8]?
  /// Whether the upstream gets `X-Script-Name`: such an application (WSGI) expects the prefix in `Destination` and
  /// removes it itself.
  let receivesScriptName: Bool
  /// Names that clients may not send to this upstream: removed headers, and those that the gateway sets.
  let removed: ReservedNames
  /// Whether redirects to the upstream's own address, and to `http:` of ours, are rewritten.
  let rewritesRedirects: Bool
  /// Whether each request has to be rewritten. Otherwise only those with a `Destination` are.
  let changesRequests: Bool
  /// Whether the upstream is reached over TLS, so that it takes `https:` for its own scheme.
  let usesTLS: Bool
  /// The addresses by which the upstream knows itself.
  private let authorities: [Authority]

  /// - Parameters:
  ///   - host: `Host` for the upstream, with a port or without.
  ///   - prefix: see ``prefix``.
  ///   - receivesScriptName: see ``receivesScriptName``.
  ///   - removedNames: headers that are removed from requests.
  ///   - addresses: host and port of each `http:` or `https:` address.
  init(
    host: String?, prefix: String?, receivesScriptName: Bool = false, removedNames: [String], rewritesRedirects: Bool,
    usesTLS: Bool, addresses: [(host: String, port: UInt16)]
  ) {
    self.host = host.map { Array($0.utf8) }
    self.prefix = prefix.map { Array($0.utf8) }
    self.receivesScriptName = receivesScriptName
    removed = ReservedNames(removedNames + (prefix == nil ? [] : ["X-Forwarded-Prefix"]))
    self.rewritesRedirects = rewritesRedirects
    self.usesTLS = usesTLS
    var authorities = addresses.map { address in
      Authority(host: Host.bracketed(address.host).utf8.map(\.asciiLowercased), port: address.port)
    }
    let own = host.flatMap { Authority(parsing: $0.utf8) }
    hostName = own?.host
    if let own {
      // Without a port an application may write its own port, or leave it out.
      let ports = own.port.map { [$0] } ?? [80, 443] + addresses.map(\.port)
      authorities += ports.map { Authority(host: own.host, port: $0) }
    }
    self.authorities = authorities
    changesRequests = host != nil || prefix != nil || !removed.isEmpty
  }

  /// Whether `Set-Cookie` may have to be rewritten.
  var rewritesCookies: Bool { prefix != nil || hostName != nil }

  /// Whether a host and port are the upstream's own.
  func isOwn(_ authority: Authority) -> Bool { authorities.contains(authority) }

  /// The position in a path of the first byte that the upstream gets, and whether a slash precedes it.
  /// - Returns: nil if the path is outside of the prefix, or the rest begins with two slashes: to some applications
  ///   that is a URL with an authority, and the path begins after it.
  func strippedPath(_ bytes: RawSpan, _ path: Range<Int>) -> (start: Int, addsSlash: Bool)? {
    guard let prefix else { return (path.lowerBound, false) }
    guard path.count >= prefix.count else { return nil }
    for offset in prefix.indices where bytes.byte(at: path.lowerBound + offset) != prefix[offset] { return nil }
    let start = path.lowerBound + prefix.count
    guard start < path.upperBound else { return (start, true) }
    switch bytes.byte(at: start) {
    case UInt8(ascii: "/"):
      return Self.beginsAuthority(bytes.extracting(start..<path.upperBound)) ? nil : (start, false)
    // A session parameter of the prefix itself.
    case UInt8(ascii: ";"): return (start, true)
    default: return nil
    }
  }

  /// Whether a path begins with two separators, the second one literal or encoded.
  static func beginsAuthority(_ path: RawSpan) -> Bool {
    func isSecond(_ separator: StaticString) -> Bool {
      let second = 1..<1 + separator.utf8CodeUnitCount
      return second.upperBound <= path.byteCount && path.equalsIgnoringCase(separator, second)
    }
    return isSecond("/") || isSecond("\\") || isSecond("%2f") || isSecond("%5c")
  }

  /// Whether a response has fields that may have to be rewritten.
  @inline(__always)
  static func concerns(_ fields: borrowing FieldTable) -> Bool {
    fields.has(.location) || fields.has(.contentLocation) || fields.has(.refresh) || fields.has(.setCookie)
  }
}
