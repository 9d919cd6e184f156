package import HTTPWire
internal import WebFormats

/// The fields that only the gateway may send, on one listener. A class, because every request holds on to them: copies
/// of a structure would each retain all that it is made of.
package final class ForwardingRules: Sendable {
  /// Names that only the gateway sets: the identity headers and what else the configuration adds.
  let reserved: ReservedNames
  /// These, and what applications commonly believe about users: also removed if a trusted proxy sends them.
  private let notFromProxies: ReservedNames
  /// These, and what applications commonly believe about addresses, schemes, hosts and paths: from trusted proxies
  /// only.
  private let notFromStrangers: ReservedNames
  /// Names that the configuration sets or removes for some upstream. In headers the upstream's own rewriting removes
  /// them; as trailers they pass to none.
  private let ofUpstreams: ReservedNames
  /// Those of these names that the configuration keeps.
  private let kept: ReservedNames
  let methodOverrides = ReservedNames(ForwardingRules.methodOverrideNames)
  /// The gateway's own cookies.
  package let gatewayCookies: GatewayCookies
  /// `X-Forwarded-Proto`: the scheme of the public origin, whatever the connection is.
  package let scheme: String
  /// The public origin, as browsers write it.
  private let origin: String
  /// The origins of other hosts, by the name of the host in lower case, an IPv6 address with its brackets.
  private let hostOrigins: [[UInt8]: String]
  /// `X-Forwarded-Proto`, and `X-Forwarded-Host` up to the authority.
  let schemeAndHost: [UInt8]
  /// Added to every response.
  let responseHeaders: ResponseHeaders

  /// The path prefix of the gateway's own endpoints, without a trailing slash.
  let ownPathPrefix: [UInt8]

  /// - Parameters:
  ///   - reservedNames: the identity headers.
  ///   - keptNames: names that are not removed though applications commonly believe them.
  ///   - upstreamNames: headers that are set or removed for any of the upstreams.
  ///   - standardCookieName: that of a gateway without another: its cookies are not forwarded either.
  ///   - hostOrigins: other hosts, in lower case and without a port, each with its origin. The first one of a name
  ///     counts.
  package init(
    reservedNames: [String], keptNames: [String] = [], upstreamNames: [String] = [], sessionCookieName: String,
    standardCookieName: String? = nil, scheme: String, origin: String = "",
    hostOrigins: [(host: String, origin: String)] = [], ownPathPrefix: String = "/.auth",
    responseHeaders: ResponseHeaders = ResponseHeaders()
  ) {
    self.responseHeaders = responseHeaders
    self.origin = origin
    self.hostOrigins = Dictionary(
      hostOrigins.map { (Array($0.host.utf8), $0.origin) }, uniquingKeysWith: { first, _ in first })
    let fromNobody = reservedNames + Self.alwaysReserved + Self.pathPrefixes
    reserved = ReservedNames(fromNobody, families: Self.alwaysReservedFamilies)
    notFromProxies = ReservedNames(
      fromNobody + Self.users, families: Self.alwaysReservedFamilies + Self.userFamilies)
    notFromStrangers = ReservedNames(
      fromNobody + Self.foreign, families: Self.alwaysReservedFamilies + Self.foreignFamilies)
    kept = ReservedNames(keptNames)
    ofUpstreams = ReservedNames(upstreamNames)
    self.ownPathPrefix = Array(ownPathPrefix.utf8)
    gatewayCookies = GatewayCookies(name: sessionCookieName, another: standardCookieName)
    self.scheme = scheme
    schemeAndHost = Array("X-Forwarded-Proto: \(scheme)\r\nX-Forwarded-Host: ".utf8)
  }

  /// Notes the places of the gateway's own cookies in a head. Asked here, because each look for them into the rules
  /// would retain them.
  @inline(never)
  func findGatewayCookies(_ bytes: RawSpan, in head: inout RequestHead) { gatewayCookies.find(bytes, in: &head) }

  /// The origin of the host that an authority names, with any port or without one: the public origin for every host
  /// that is not configured.
  func origin(of authority: [UInt8]) -> String {
    guard let (end, _) = Authority.split(authority.span) else { return origin }
    var name = authority[..<end]
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    return hostOrigins[name.map(\.asciiLowercased)] ?? origin
  }

  /// Names by which an application may take another method than that of the request line.
  package static let methodOverrideNames = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]
  /// Names by which an application may take another path. Trusted from no peer.
  package static let pathOverrideNames = [
    "X-Original-URL", "X-Rewrite-URL", "X-Override-URL", "X-HTTP-DestinationURL",
  ]

  /// Fields that only the gateway may send upstream.
  private static let alwaysReserved =
    pathOverrideNames + [
      "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Request-Id", "X-Identity-Assertion",
      // CGI passes it on as HTTP_PROXY (CVE-2016-5385): trusted from no peer.
      "Proxy",
      // Framing and hop-by-hop fields in another spelling: `Transfer_Encoding` is the same variable as
      // `Transfer-Encoding` behind CGI and WSGI. The names themselves are known fields, judged before these are looked
      // at.
      "Transfer-Encoding", "Content-Length", "Keep-Alive", "Proxy-Connection", "HTTP2-Settings", "Proxy-Authenticate",
      "Proxy-Authorization",
      // Instructions of a web server to Rack about files (CVE-2025-61780).
      "X-Sendfile-Type", "X-Accel-Mapping",
    ]

  /// The private headers of WebSphere's plug-in, among them the user (`$WSRU`), whatever follows this beginning.
  private static let alwaysReservedFamilies = ["$WS"]

  /// Fields whose value some servers remove from the beginning of the path (gunicorn: `SCRIPT_NAME`; daphne:
  /// `Daphne-Root-Path`; middleware of WSGI: `X-Script-Name`), so that the application serves another path than the one
  /// that was authorized. From no peer; the configuration may set them for an upstream.
  private static let pathPrefixes = ["Script-Name", "X-Script-Name", "Path-Info", "Daphne-Root-Path"]

  /// Fields that name a path prefix as those do, and that proxies set: from trusted proxies only. The configuration
  /// cannot keep those of other clients.
  private static let pathPrefixesOfProxies = ["X-Forwarded-Prefix", "X-Forwarded-Script-Name", "X-Forwarded-Path"]

  /// Fields in which proxies name the requested path.
  private static let requestedPaths = ["X-Forwarded-Uri", "X-Original-URI"]

  /// Whether a request's field goes upstream as it is.
  @inline(__always)
  func passes(_ line: FieldLine, _ bytes: RawSpan, trusted: Bool) -> Bool {
    switch line.known {
    case .accept, .origin, .secFetchMode, .secFetchSite, .host, .traceparent, .date:
      return true
    case .contentLength: return ContentLength.isPlain(line, bytes)
    // 100 Continue is sent by the gateway: applications behind CGI and WSGI do not know it.
    case .expect, .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade, .http2Settings, .transferEncoding,
      .proxyAuthenticate, .proxyAuthorization, .cookie, .xForwardedFor, .xForwardedHost, .xForwardedProto, .xRequestID:
      return false
    // Addresses and paths announced by an untrusted peer; fields that rewrite the path behind the gate are trusted from
    // no peer.
    case .xRealIP, .xForwardedURI, .xOriginalURI:
      return (trusted || isKept(line, bytes)) && !isReserved(line, bytes)
    // A trusted proxy's Forwarded is written again, with one more element.
    case .forwarded: return !trusted && isKept(line, bytes)
    case .xOriginalURL, .xRewriteURL: return false
    case .other, .acceptLanguage, .userAgent, .authorization, .xRequestedWith, .setCookie, .location,
      .contentLocation, .refresh, .destination, .depth:
      // One call for each: a choice of one of the two lists would copy it, and so retain what it is made of.
      let isDoubtful =
        trusted ? notFromProxies.contains(bytes, line.name) : notFromStrangers.contains(bytes, line.name)
      return !isDoubtful || isKept(line, bytes) && !isReserved(line, bytes)
    }
  }

  // Rarely asked, and so not inlined with the rest.

  @inline(never)
  private func isKept(_ line: FieldLine, _ bytes: RawSpan) -> Bool { kept.contains(bytes, line.name) }

  @inline(never)
  private func isReserved(_ line: FieldLine, _ bytes: RawSpan) -> Bool { reserved.contains(bytes, line.name) }

  /// Whether a trailer may pass. A name that could be taken for a header that only the gateway or a proxy sends may
  /// not, even from trusted proxies.
  func passesAsTrailer(_ line: FieldLine, _ bytes: RawSpan) -> Bool {
    line.known == .other && !notFromStrangers.contains(bytes, line.name) && !ofUpstreams.contains(bytes, line.name)
  }

  /// Whether a header is removed unless the configuration keeps it: one about users from every peer, any other from
  /// peers that are no trusted proxies.
  package static func isForeign(_ name: String) -> Bool { foreignNames.contains(name) }

  /// Whether applications commonly take a header for the user or the client's certificate.
  package static func isAboutUser(_ name: String) -> Bool { userNames.contains(name) }

  /// Whether only the gateway sends a header, whatever is configured.
  package static func isAlwaysReserved(_ name: String) -> Bool { alwaysReservedNames.contains(name) }

  /// Whether no client's header of this name is forwarded, though the configuration may set it for an upstream.
  package static func isPathPrefix(_ name: String) -> Bool { pathPrefixNames.contains(name) }

  /// Whether trusted proxies may name a path prefix in this header, and clients may not.
  package static func isPathPrefixOfProxy(_ name: String) -> Bool { proxyPathPrefixNames.contains(name) }

  /// Whether proxies name the requested path in this header.
  package static func isPath(_ name: String) -> Bool { pathNames.contains(name) }

  /// Whether a header is one of others, in any spelling that an application could take for the same.
  package static func isSame(_ name: String, asOneOf names: [String]) -> Bool { ReservedNames(names).contains(name) }

  private static let foreignNames = ReservedNames(foreign, families: foreignFamilies)
  private static let userNames = ReservedNames(users, families: userFamilies)
  private static let alwaysReservedNames = ReservedNames(alwaysReserved)
  private static let pathPrefixNames = ReservedNames(pathPrefixes)
  private static let proxyPathPrefixNames = ReservedNames(pathPrefixesOfProxies)
  private static let pathNames = ReservedNames(requestedPaths)

  /// Fields that applications commonly believe about the user, in all the spellings that an application behind CGI
  /// would take for them. Trusted proxies do not authenticate users, and pass on what their own clients send.
  private static let users = [
    "Remote-User", "Remote-Email", "Remote-Name", "Remote-Group", "Remote-Groups", "X-Forwarded-User",
    "X-Forwarded-Email", "X-Forwarded-Name", "X-Forwarded-Group", "X-Forwarded-Groups", "X-Forwarded-Roles",
    "X-Forwarded-Preferred-Username", "X-Forwarded-Access-Token", "X-Forwarded-Login",
    // Keycloak Gatekeeper, and applications that call a proxy's user so.
    "X-Auth-User", "X-Auth-Userid", "X-Auth-Username", "X-Auth-Email", "X-Auth-Name", "X-Auth-Subject", "X-Auth-Groups",
    "X-Auth-Roles",
    // Cloudflare Access, Teleport, Kubeflow, Kong and APISIX, caddy-security, Google Cloud Endpoints and API Gateway.
    "Cf-Access-Jwt-Assertion", "Teleport-Jwt-Assertion", "Kubeflow-Userid", "Kubeflow-Groups", "X-Userinfo",
    "X-Credential-Identifier", "X-Credential-Username", "X-Token-Subject", "X-Endpoint-Api-Userinfo",
    "X-Apigateway-Api-Userinfo",
    // mod_auth_cas, IBM WebSEAL, WSO2, WebLogic.
    "CAS-User", "IV-User", "IV-User-L", "IV-Groups", "IV-Creds", "X-JWT-Assertion", "Proxy-Remote-User",
    // The client certificate, as nginx, HAProxy and Azure App Service are told to name it.
    "X-Client-Verify", "X-Client-DN", "X-Client-S-DN", "X-Client-SSL-Cert", "X-ARR-ClientCert", "X-SSL-Cert",
    "X-SSL-DN", "X-SSL-Verify", "X-SSL-Subject", "X-Certificate-Subject",
  ]

  /// The same, whatever follows these beginnings. A family that begins with `Ac`, `Re` or `Se`, as many headers of
  /// ordinary requests do, would make the look-up slower.
  private static let userFamilies = [
    "X-Remote-", "X-WEBAUTH-", "X-Auth-Request-", "X-Authenticated-",
    // mod_auth_openidc, mod_auth_mellon, Oracle Access Manager.
    "OIDC-", "Mellon-", "OAM-",
    // SiteMinder, WebLogic's plug-in.
    "SM-", "WL-Proxy-",
    // The client certificate (RFC 9440; ingress-nginx; `SSL_CLIENT_CERT` as in mod_ssl). A proxy removes
    // them from requests (RFC 9440, 2.4).
    "Client-Cert", "SSL-Client-", "X-SSL-Client-", "X-Client-Cert", "X-Amzn-Mtls-", "Cf-Client-Cert-",
    "X-Pomerium-", "X-Vouch-", "X-Authentik-", "X-Token-User-", "X-Consumer-", "Tailscale-",
    "Cf-Access-Authenticated-User-", "X-Amzn-Oidc-", "X-Ms-Client-Principal", "X-Ms-Token-",
    "X-Goog-Authenticated-User-", "X-Goog-Iap-", "X-Appengine-User-",
  ]

  /// Fields that are not believed of clients: about the user, the client's address, scheme, host and path.
  private static let foreign =
    users + [
      "X-Real-IP", "X-Original-URI", "Client-IP", "X-Client-IP", "True-Client-IP", "X-Cluster-Client-IP",
      "Proxy-Client-IP", "Forwarded", "X-Forwarded", "Forwarded-For", "X-Scheme", "X-Url-Scheme", "Front-End-Https",
      // An application that takes its own host from them writes links to the client's choice into pages and mails.
      "X-Host", "X-HTTP-Host-Override", "X-Original-Host",
    ]

  /// The same, whatever follows these beginnings.
  private static let foreignFamilies = userFamilies + ["X-Forwarded-"]
}

/// `Content-Length` as it is written to the other side: the number that was read, without leading zeros. A reader that
/// limits the digits, or takes a leading zero for octal, would frame the message otherwise than we do.
enum ContentLength {
  /// Whether the value can be copied.
  @inline(__always)
  static func isPlain(_ line: FieldLine, _ bytes: RawSpan) -> Bool {
    line.value.count == 1 || bytes.byte(at: line.value.lowerBound) != 0x30
  }

  /// The digits of a value, its leading zeros left out.
  static func digits(_ line: FieldLine, _ bytes: RawSpan) -> Range<Int> {
    var start = line.value.lowerBound
    while start < line.value.upperBound - 1, bytes.byte(at: start) == 0x30 { start += 1 }
    return start..<line.value.upperBound
  }

  /// Writes the line in its normal form.
  static func write(_ line: FieldLine, _ bytes: RawSpan, to writer: inout HeaderWriter) {
    writer.append("Content-Length: ")
    writer.append(bytes.extracting(digits(line, bytes)))
    writer.append("\r\n")
  }
}
