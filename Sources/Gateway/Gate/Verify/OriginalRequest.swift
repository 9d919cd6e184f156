internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Logging
internal import WebFormats

/// The request that another proxy asks `verify` about, as far as the proxy is believed. Ranges are in the head of the
/// asking request.
struct OriginalRequest {
  /// The host: believed, that of the asking request if it is listed, or that of `public_url`.
  var place: AuthorityList.Place
  /// The path, with the query if there is one.
  var target: Target
  /// Whether a navigation without a session is redirected to sign in.
  var mayRedirect: Bool

  /// Path and method of the original request.
  enum Target {
    /// - Parameter method: nil where it is not known.
    case known(Range<Int>, method: Range<Int>?)
    case unknown(AmbiguityError)
  }

  /// The reason that an original request is not known.
  enum AmbiguityError: Int, Error {
    case untrustedPeer, noPath
    /// Two sources of one fact differ, or one came twice.
    case contradiction
    /// A host that the gateway does not serve.
    case foreignHost
    /// A method with lower-case letters (see `HeadViolation.methodCase`).
    case methodCase
    /// CONNECT, which may open a tunnel that nobody asks about, or TRACE.
    case connectOrTrace
    /// A field names another path or method, which an application may take (see ``RequestOverrides``).
    case pathOverride, methodOverride
    /// An upgrade that is not a WebSocket (see ``RequestKind/hasOtherUpgrade(_:_:)``).
    case otherUpgrade
    /// The query of `verify` has a restriction that oauth2-proxy reads there, and that would be ignored.
    case restrictionInQuery

    /// The message and its remedy.
    var log: (message: Logger.Message, remedy: String) {
      switch self {
      case .untrustedPeer:
        (
          "denied verify request from an untrusted peer: some routes are restricted",
          "if this is your proxy, add its address to listen.trusted_proxies"
        )
      case .noPath:
        (
          "denied verify request without the original path: some routes are restricted",
          "let the proxy send X-Original-URI or X-Forwarded-Uri, or name in verify.believe what it sends "
            + "(listen.trusted_proxies lists it already)"
        )
      case .methodCase:
        (
          "denied verify request for a method with lower-case letters",
          "nothing to do: the client is at fault; applications may take its method for another one"
        )
      case .connectOrTrace:
        (
          "denied verify request for CONNECT or TRACE",
          "let the proxy refuse both: a tunnel that an application opens carries requests that nobody asks about"
        )
      case .pathOverride:
        (
          "denied verify request with a header that names another path",
          "let the proxy remove X-Original-URL, X-Rewrite-URL, X-Override-URL and X-HTTP-DestinationURL: applications "
            + "may take them for the path"
        )
      case .methodOverride:
        (
          "denied verify request with a method override, on a path where methods matter",
          "let the proxy remove X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override"
        )
      case .otherUpgrade:
        (
          "denied verify request for an upgrade that is not a WebSocket",
          "let the proxy remove Upgrade unless it is websocket: nobody asks about the requests in such a tunnel"
        )
      case .restrictionInQuery:
        (
          "denied verify request with a restriction of oauth2-proxy in its query",
          "remove allowed_groups, allowed_emails and allowed_email_domains from the address that the proxy asks, and "
            + "list the permitted users in [access] or a [[route]], by which verify decides; if they are in the "
            + "client's own query, which Caddy passes on, let the proxy ask verify? with the question mark"
        )
      case .contradiction:
        (
          "denied verify request with contradicting headers",
          "let the proxy overwrite or remove each header that verify.believe names"
        )
      case .foreignHost:
        (
          "denied verify request for a host that is not listed",
          "list it in [[host]] or listen.hosts, or let the proxy overwrite X-Forwarded-Host and X-Original-URL"
        )
      }
    }
  }
}

/// Reads original requests.
struct OriginalRequestReader {
  private let authorities: AuthorityList
  /// The bits of the sources that are believed.
  private let believed: UInt8
  /// The path of `verify`.
  private let path: [UInt8]

  /// - Parameter path: the whole path of `verify`.
  init(_ settings: VerifySettings, _ authorities: AuthorityList, path: [UInt8]) {
    self.authorities = authorities
    self.path = path
    believed = settings.believe.reduce(0) { $0 | $1.bit }
  }

  /// Whether the path of the original request may follow that of `verify`.
  var takesPathBelow: Bool { believes(.path) }

  private func believes(_ source: VerifySettings.Source) -> Bool { believed & source.bit != 0 }

  /// - Throws: a contradiction, a host that is not listed, or a restriction in the query. Other doubts leave only the
  ///   path unknown.
  func read(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer
  ) throws(OriginalRequest.AmbiguityError) -> OriginalRequest {
    // A rule for the other proxy that was written for oauth2-proxy: without its restriction it would admit more. Below
    // `verify/` the query is that of the original request.
    if head.path.count == path.count,
      bytes.hasQueryItem(named: "allowed_groups", in: head.query)
        || bytes.hasQueryItem(named: "allowed_emails", in: head.query)
        || bytes.hasQueryItem(named: "allowed_email_domains", in: head.query)
    {
      throw .restrictionInQuery
    }
    let asked = authorities.place(bytes.extracting(head.authority)._unsafeView(as: UInt8.self)) ?? .publicURL
    guard client.isTrusted else {
      return OriginalRequest(place: asked, target: .unknown(.untrustedPeer), mayRedirect: false)
    }
    var facts = Facts(mayRedirect: head.path.count == path.count && bytes.hasQueryItem("redirect=1", in: head.query))
    if believes(.path), head.path.count > path.count {
      try facts.add(target: head.path.lowerBound + path.count..<head.query.upperBound, bytes)
      facts.method = head.methodRange
    }
    for line in head.fields.lines {
      guard let source = source(line, bytes), believes(source) else { continue }
      if facts.seen & source.bit != 0 { throw .contradiction }
      facts.seen |= source.bit
      switch source {
      case .originalURI, .forwardedURI: try facts.add(target: line.value, bytes)
      case .originalURL:
        // The scheme is not compared: TLS may end before the proxy.
        guard let parts = AbsoluteURL.split(bytes, line.value) else { throw .foreignHost }
        try facts.add(target: parts.target, bytes)
        try facts.add(place: place(bytes, parts.authority))
      case .host: try facts.add(place: place(bytes, line.value))
      // A variable of the proxy that is not set: no method is the empty one, and no route is for it.
      case .method where line.value.isEmpty: throw .contradiction
      case .method where bytes.hasLowercase(line.value): throw .methodCase
      case .method where bytes.equals("CONNECT", line.value) || bytes.equals("TRACE", line.value): throw .connectOrTrace
      case .method: try facts.add(method: line.value, bytes)
      case .redirect: facts.mayRedirect = facts.mayRedirect || bytes.equals("1", line.value)
      case .path, .address: break
      }
    }
    return OriginalRequest(
      place: facts.place ?? asked,
      target: facts.target.map { .known($0, method: facts.method) } ?? .unknown(.noPath),
      mayRedirect: facts.mayRedirect)
  }

  /// The address of the original request's client; nil where it is not believed.
  func address(_ head: borrowing RequestHead, _ client: ClientPeer) -> IPAddress? {
    guard believes(.address), client.isTrusted, client.isAddressKnown, head.fields.has(.xForwardedFor) else {
      return nil
    }
    return IPAddress(client.address)
  }

  /// The facts so far; each is stated once, or several times alike.
  private struct Facts {
    var mayRedirect: Bool
    var place: AuthorityList.Place?
    var target: Range<Int>?
    var method: Range<Int>?
    /// The bits of the headers that came.
    var seen: UInt8 = 0

    mutating func add(target other: Range<Int>, _ bytes: RawSpan) throws(OriginalRequest.AmbiguityError) {
      if let target, !Self.isSame(target, other, bytes) { throw .contradiction }
      target = other
    }

    mutating func add(method other: Range<Int>, _ bytes: RawSpan) throws(OriginalRequest.AmbiguityError) {
      if let method, !Self.isSame(method, other, bytes) { throw .contradiction }
      method = other
    }

    mutating func add(place other: AuthorityList.Place) throws(OriginalRequest.AmbiguityError) {
      if let place, place != other { throw .contradiction }
      place = other
    }

    private static func isSame(_ one: Range<Int>, _ other: Range<Int>, _ bytes: RawSpan) -> Bool {
      one.count == other.count
        && one.indices.allSatisfy { bytes.byte(at: $0) == bytes.byte(at: $0 - one.lowerBound + other.lowerBound) }
    }
  }

  private func source(_ line: FieldLine, _ bytes: RawSpan) -> VerifySettings.Source? {
    switch line.known {
    case .xOriginalURI: .originalURI
    case .xForwardedURI: .forwardedURI
    case .xOriginalURL: .originalURL
    case .xForwardedHost: .host
    // Read by `address(_:_:)`; here it is only counted. One line may hold a list.
    case .xForwardedFor: .address
    case .other where bytes.equalsIgnoringCase("x-forwarded-method", line.name): .method
    case .other where bytes.equalsIgnoringCase("x-auth-redirect", line.name): .redirect
    default: nil
    }
  }

  private func place(_ bytes: RawSpan, _ authority: Range<Int>) throws(OriginalRequest.AmbiguityError)
    -> AuthorityList.Place
  {
    guard let place = authorities.place(bytes.extracting(authority)._unsafeView(as: UInt8.self)) else {
      throw .foreignHost
    }
    return place
  }
}

extension VerifySettings.Source {
  /// A bit of its own, to note which fields a request had.
  fileprivate var bit: UInt8 {
    switch self {
    case .originalURI: 1 << 0
    case .forwardedURI: 1 << 1
    case .originalURL: 1 << 2
    case .path: 1 << 3
    case .method: 1 << 4
    case .host: 1 << 5
    case .address: 1 << 6
    case .redirect: 1 << 7
    }
  }
}
