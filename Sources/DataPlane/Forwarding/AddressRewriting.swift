internal import HTTPWire
internal import WebFormats

/// Rewrites addresses in the fields of one exchange between the origin that its client sees and the upstream's own.
///
/// Pure functions on bytes: what cannot be read with certainty stays as it is. A `\`, user information, a control
/// character or a byte beyond ASCII in an authority is read differently by browsers and servers.
final class AddressRewriting {
  private let upstream: UpstreamRewriting
  /// `http` or `https`: the scheme of `public_url`.
  private let scheme: [UInt8]
  /// The request's authority as it was received.
  private let authority: [UInt8]
  private let parsedAuthority: Authority?
  /// The path prefix of the gateway's own endpoints.
  private let ownPathPrefix: [UInt8]

  /// - Parameters:
  ///   - scheme: of `public_url`.
  ///   - authority: host and port of the request; empty if there are none.
  init(_ upstream: UpstreamRewriting, scheme: [UInt8], authority: [UInt8], ownPathPrefix: [UInt8]) {
    self.upstream = upstream
    self.scheme = scheme
    self.authority = authority
    self.ownPathPrefix = ownPathPrefix
    parsedAuthority = Authority(parsing: authority)
  }

  // MARK: Fields

  /// The value of a response field for the client; nil if it stays as it is.
  func response(_ line: FieldLine, _ bytes: RawSpan) -> [UInt8]? {
    switch line.known {
    case .location, .contentLocation: return reference(bytes.array(line.value)[...])
    case .refresh: return refresh(bytes.array(line.value))
    case .setCookie: return upstream.rewritesCookies ? cookie(bytes.array(line.value)) : nil
    default: return nil
    }
  }

  /// `Destination` (RFC 4918, 10.3) as the upstream gets it.
  enum Destination: Equatable {
    case unchanged
    case rewritten([UInt8])
    /// It names a resource that is not the upstream's, or cannot be read with certainty.
    case outsidePrefix
  }

  /// `Destination` for the upstream. The gate has authorized its path; with a prefix to remove, it must have that
  /// prefix.
  func destination(_ value: [UInt8]) -> Destination {
    let path: ArraySlice<UInt8>
    var origin: [UInt8]
    if let target = Target(value[...]) {
      guard isOfGateway(target) else { return upstream.prefix == nil ? .unchanged : .outsidePrefix }
      path = target.path
      origin = Array(value[..<target.path.startIndex])
      if upstream.rewritesRedirects {
        origin = Array((upstream.usesTLS ? "https://" : "http://").utf8) + (upstream.host ?? authority)
      }
    } else if Self.isPath(value[...]) {
      (path, origin) = (value[...], [])
    } else {
      return upstream.prefix == nil ? .unchanged : .outsidePrefix
    }
    guard let stripped = stripped(path) else { return .outsidePrefix }
    let result = origin + (upstream.receivesScriptName ? path : stripped)
    return result == value ? .unchanged : .rewritten(result)
  }

  /// An address of a response for the client; nil if it stays as it is.
  func reference(_ value: ArraySlice<UInt8>) -> [UInt8]? {
    let result: [UInt8]
    if let target = Target(value) {
      let isOfUpstream =
        upstream.rewritesRedirects && target.authority.map { upstream.isOwn($0.with(defaultPort(target))) } ?? false
      guard isOfUpstream || isOfGateway(target) else { return nil }
      let rewritesOrigin = upstream.rewritesRedirects && !authority.isEmpty && (isOfUpstream || isCleartext(target))
      let origin = rewritesOrigin ? scheme + Array("://".utf8) + authority : Array(value[..<target.path.startIndex])
      // Without a rewritten origin the address is still the upstream's: its paths have no prefix for us.
      if isOfUpstream, !rewritesOrigin { return nil }
      result = origin + prefixed(target.path)
    } else if Self.isPath(value) {
      result = Array(prefixed(value))
    } else {
      return nil
    }
    return result.elementsEqual(value) ? nil : result
  }

  /// `Refresh` (HTML, "shared declarative refresh steps"): a time, `;` or `,`, and `url=` with an address that may be
  /// quoted.
  private func refresh(_ value: [UInt8]) -> [UInt8]? {
    var place = value.firstIndex { !($0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0.isOptionalWhitespace) }
    guard let separator = place, value[separator] == UInt8(ascii: ";") || value[separator] == UInt8(ascii: ",") else {
      return nil
    }
    var start = value[(separator + 1)...].trimmingOptionalWhitespace.startIndex
    if value[start...].prefix(3).elementsEqual("url".utf8, by: { $0.asciiLowercased == $1 }) {
      let behind = value[(start + 3)...].trimmingOptionalWhitespace
      if behind.first == UInt8(ascii: "=") { start = behind.dropFirst().trimmingOptionalWhitespace.startIndex }
    }
    var end = value.endIndex
    if start < end, value[start] == UInt8(ascii: "\"") || value[start] == UInt8(ascii: "'") {
      place = value[(start + 1)...].firstIndex(of: value[start])
      end = place ?? end
      start += 1
    }
    guard start < end, let address = reference(value[start..<end]) else { return nil }
    return value[..<start] + address + value[end...]
  }

  /// `Set-Cookie` (RFC 6265, 5.2) with the prefix before each `Path`, and without a `Domain` of the upstream's own
  /// host. Browsers take `__Host-` cookies for `/` only, and without `Domain`.
  private func cookie(_ value: [UInt8]) -> [UInt8]? {
    var parts = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard let first = parts.first,
      !first.trimmingOptionalWhitespace.prefix(7).elementsEqual("__host-".utf8, by: { $0.asciiLowercased == $1 })
    else { return nil }
    let losesDomain = removeOwnDomain(from: &parts)
    let getsPrefix = addPrefix(to: &parts)
    guard losesDomain || getsPrefix else { return nil }
    // The last part may have been followed by one that was removed: a field value does not end with a space.
    return Array(Array(parts.joined(separator: [UInt8(ascii: ";")])).trimmingOptionalWhitespace)
  }

  /// Adds the prefix to each `Path` of a cookie's parts.
  /// - Returns: whether there was one without it.
  private func addPrefix(to parts: inout [ArraySlice<UInt8>]) -> Bool {
    guard let prefix = upstream.prefix else { return false }
    var isChanged = false
    for place in parts.indices.dropFirst() {
      guard let start = Self.attributeValue("path", in: parts[place]) else { continue }
      let path = parts[place][start...].trimmingOptionalWhitespace
      guard path.first == UInt8(ascii: "/"), !Self.isWithin(path, prefix) else { continue }
      // A cookie for "/reports" is sent to "/reports" and below, one for "/reports/" below only.
      parts[place] = parts[place][..<start] + prefix + (path.count == 1 ? [] : path)
      isChanged = true
    }
    return isChanged
  }

  /// Removes each `Domain` from a cookie's parts where the last one, which counts (RFC 6265, 5.3), is the upstream's
  /// `Host` or a parent domain of it, and neither the requested host nor a parent domain of that: browsers would refuse
  /// the cookie. Without `Domain` it is the requested host's. An empty `Domain` is ignored (RFC 6265, 5.2.3), or
  /// means no domain where it is the last (RFC 6265bis): to remove all of them is right by either reading.
  /// - Returns: whether there was such a `Domain`.
  private func removeOwnDomain(from parts: inout [ArraySlice<UInt8>]) -> Bool {
    guard let ownHost = upstream.hostName, let requestedHost = parsedAuthority?.host else { return false }
    var places: [Int] = []
    var domain: [UInt8] = []
    for place in parts.indices.dropFirst() {
      guard let start = Self.attributeValue("domain", in: parts[place]) else { continue }
      places.append(place)
      let value = parts[place][start...].trimmingOptionalWhitespace
      if !value.isEmpty { domain = value.map(\.asciiLowercased) }
    }
    if domain.first == UInt8(ascii: ".") { domain.removeFirst() }
    guard Self.isHost(ownHost, inDomain: domain), !Self.isHost(requestedHost, inDomain: domain) else { return false }
    for place in places.reversed() { parts.remove(at: place) }
    return true
  }

  /// The position of an attribute's value in one part of a cookie; nil for other attributes, and without `=`.
  private static func attributeValue(_ name: String, in part: ArraySlice<UInt8>) -> Int? {
    guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
      part[..<equals].trimmingOptionalWhitespace.elementsEqual(name.utf8, by: { $0.asciiLowercased == $1 })
    else { return nil }
    return equals + 1
  }

  /// Whether a host is a domain or below it (RFC 6265, 5.1.3).
  private static func isHost(_ host: [UInt8], inDomain domain: [UInt8]) -> Bool {
    guard !domain.isEmpty, host.suffix(domain.count).elementsEqual(domain) else { return false }
    return host.count == domain.count || host[host.endIndex - domain.count - 1] == UInt8(ascii: ".")
  }

  // MARK: Paths

  /// A path, or what follows an authority, with the prefix unless it begins with it.
  private func prefixed(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let prefix = upstream.prefix, !Self.isWithin(path, prefix), !Self.isWithin(path, ownPathPrefix) else {
      return path
    }
    return prefix + path
  }

  /// A path without the prefix; nil if it is outside of it (see ``UpstreamRewriting/strippedPath(_:_:)``).
  private func stripped(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let prefix = upstream.prefix else { return path }
    guard Self.isWithin(path, prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    guard !UpstreamRewriting.beginsAuthority(rest.span.bytes) else { return nil }
    return rest.first == UInt8(ascii: "/") ? rest : [UInt8(ascii: "/")] + rest
  }

  /// Whether a path is the prefix or below it.
  private static func isWithin(_ path: ArraySlice<UInt8>, _ prefix: [UInt8]) -> Bool {
    guard path.starts(with: prefix) else { return false }
    guard path.count > prefix.count else { return true }
    return "/?#;".utf8.contains(path[path.startIndex + prefix.count])
  }

  /// Whether a reference is a path from the root. Browsers read `/\` like `//`.
  private static func isPath(_ value: ArraySlice<UInt8>) -> Bool {
    guard value.first == UInt8(ascii: "/") else { return false }
    let second = value.dropFirst().first
    return second != UInt8(ascii: "/") && second != UInt8(ascii: "\\")
  }

  // MARK: Origins

  /// A reference with an authority (RFC 3986, 4.2): `http:`, `https:`, or none of them, as in `//host/path`.
  private struct Target {
    /// In lower case; nil for the scheme of the page.
    let scheme: [UInt8]?
    /// Nil for a malformed one, which cannot be the gateway's.
    let authority: Authority?
    /// The part after the authority, with query and fragment.
    let path: ArraySlice<UInt8>

    /// Nil if the reference has no authority.
    init?(_ value: ArraySlice<UInt8>) {
      guard let slashes = value.firstIndex(of: UInt8(ascii: "/")),
        value[slashes...].starts(with: "//".utf8)
      else { return nil }
      switch value[..<slashes].map(\.asciiLowercased) {
      case []: scheme = nil
      case Array("http:".utf8): scheme = Array("http".utf8)
      case Array("https:".utf8): scheme = Array("https".utf8)
      default: return nil
      }
      let rest = value[(slashes + 2)...]
      let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
      authority = Authority(parsing: rest[..<end])
      path = rest[end...]
    }
  }

  private func defaultPort(_ target: Target) -> UInt16 {
    (target.scheme ?? scheme).elementsEqual("https".utf8) ? 443 : 80
  }

  /// Whether a reference names the origin of the request, or its host over `http:` where `public_url` is `https:`.
  private func isOfGateway(_ target: Target) -> Bool {
    guard let parsedAuthority, let theirs = target.authority, theirs.host == parsedAuthority.host else { return false }
    let ownPort = parsedAuthority.port ?? (scheme.elementsEqual("https".utf8) ? 443 : 80)
    let port = theirs.port ?? defaultPort(target)
    return port == ownPort || isCleartext(target) && port == 80
  }

  /// Whether a reference is to `http:` although clients use `https:`.
  private func isCleartext(_ target: Target) -> Bool {
    scheme.elementsEqual("https".utf8) && target.scheme?.elementsEqual("http".utf8) == true
  }
}

extension Authority {
  /// The authority with a port in any case.
  fileprivate func with(_ defaultPort: UInt16) -> Authority { Authority(host: host, port: port ?? defaultPort) }
}
