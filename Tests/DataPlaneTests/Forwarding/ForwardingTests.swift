import HTTPWire
import NIOCore
import Testing

@testable import DataPlane

// Cases: identity headers in every spelling, those of other gateways, Connection's nominations, target forms,
// hop-by-hop fields, own cookies, what the gateway adds, trusted peers, upgrades.

@Suite("Requests as they go upstream")
struct ForwardingTests {
  private let rules = ForwardingRules(
    reservedNames: ["X-Forwarded-User", "X-Forwarded-Email", "Remote-User"], sessionCookieName: "__Host-cordon",
    scheme: "https")

  /// The head as it goes upstream; without what the gateway always adds at its end when `bare`.
  private func forward(
    _ text: String, identity: SerializedIdentityHeaders? = nil, trusted: Bool = false, upgrades: Bool = false
  ) -> String { forwarded(text, rules: rules, identity: identity, trusted: trusted, upgrades: upgrades) }

  /// The field lines that went upstream of those that came.
  private func fields(_ lines: String..., trusted: Bool = false) -> [String] {
    let head = forward("GET / HTTP/1.1\r\nHost: a\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n", trusted: trusted)
    return head.split(separator: "\r\n").dropFirst(2).map(String.init).filter { !Self.added.contains($0) }
  }

  private static let added: Set<String> = [
    "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: a", "X-Request-Id: \(requestIDText)",
  ]

  @Test("An ordinary request is forwarded unchanged, with the gateway's fields at its end")
  func ordinary() {
    #expect(
      forward("GET /a?b HTTP/1.1\r\nHost: a:80\r\nAccept: */*\r\nX-Odd:  v \r\n\r\n")
        == "GET /a?b HTTP/1.1\r\nHost: a:80\r\nAccept: */*\r\nX-Odd:  v \r\nX-Forwarded-For: 192.0.2.7\r\n"
        + "X-Forwarded-Proto: https\r\nX-Forwarded-Host: a:80\r\nX-Request-Id: \(requestIDText)\r\n\r\n")
  }

  @Test("A head is whole however much is added to it", arguments: [100, 1_000, 4_000, 60_000])
  func muchAdded(size: Int) {
    let identity = SerializedIdentityHeaders([(name: "X-Forwarded-User", value: [UInt8](repeating: 0x75, count: size))])
    // Of cookies that do not fit at first, separators are taken back all the same.
    let cookies = String(repeating: "c=1; ", count: size / 10) + "__Host-cordon=x"
    let head = forward("GET / HTTP/1.1\r\nHost: a\r\nCookie: \(cookies)\r\n\r\n", identity: identity)
    let kept = cookies.dropLast("; __Host-cordon=x".count)
    #expect(
      head == "GET / HTTP/1.1\r\nHost: a\r\nCookie: \(kept)\r\n"
        + "X-Forwarded-User: \(String(repeating: "u", count: size))\r\nX-Forwarded-For: 192.0.2.7\r\n"
        + "X-Forwarded-Proto: https\r\nX-Forwarded-Host: a\r\nX-Request-Id: \(requestIDText)\r\n\r\n")
  }

  @Test("An empty line before the request is not passed on")
  func emptyLine() {
    #expect(forward("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").hasPrefix("GET / HTTP/1.1\r\nHost: a\r\n"))
  }

  @Test(
    "Client fields under the gateway's names are removed, in every spelling",
    arguments: [
      "X-Forwarded-User", "x-forwarded-user", "X_Forwarded_User", "X.Forwarded.User", "X~Forwarded|User", "REMOTE_USER",
      "Remote.User", "X-Forwarded-For", "X_Forwarded_For", "X-Forwarded-Proto", "X_FORWARDED_PROTO", "X-Forwarded-Host",
      "X-Forwarded-Port", "X_Forwarded_Anything", "X-Request-Id", "X_Request_Id", "X-Real-IP", "X_Real_IP", "Forwarded",
      "X-Original-URL", "X_Original_URL", "X-Rewrite-URL", "X.Rewrite.Url", "X-Original-URI", "X_Original_URI",
      "X-Forwarded-Uri", "X-Identity-Assertion", "x_identity_assertion", "Proxy", "proxy", "X-Remote-User",
      "X_REMOTE_USER", "X-Remote-Email", "X-Remote-Name", "X-Remote-Group", "X.Remote.Groups", "X-WEBAUTH-USER",
      "X_WebAuth_Anything", "X-Auth-Request-User", "X~Auth~Request~Groups", "X-Authenticated-User",
      "X_Authenticated_Groups", "X-Real-IP", "Client_IP", "X-Client-IP", "True-Client-IP", "X-Cluster-Client-IP",
      "X-Forwarded", "X_Forwarded", "Forwarded-For", "forwarded_for", "Remote-Email", "REMOTE_NAME", "Remote-Group",
      "Remote.Groups", "SCRIPT_NAME", "Script-Name", "X-Script-Name", "x_script_name", "Path-Info", "PATH_INFO",
      "Daphne-Root-Path", "daphne_root_path", "X-Remote-Extra-Scopes", "X-Scheme", "X_Url_Scheme", "Front-End-Https",
      "X-Sendfile-Type", "X-Accel-Mapping", "$WSRU", "$wsra", "Proxy-Client-IP", "PROXY_CLIENT_IP",
      "X-Host", "X_HOST", "X-HTTP-Host-Override", "x_http_host_override", "X-Original-Host", "X.Original.Host",
      "X-Override-URL", "X_Override_Url", "X-HTTP-DestinationURL", "X_HTTP_DESTINATIONURL",
    ])
  func spoofed(_ name: String) {
    #expect(fields("A: 1", "\(name): evil", "B: 2") == ["A: 1", "B: 2"])
    #expect(fields("\(name): evil") == [])
    #expect(fields("A: 1", "\(name): evil", "\(name): evil") == ["A: 1"])
    #expect(fields("Connection: close, \(name)", "\(name): evil", "A: 1") == ["A: 1"])
  }

  @Test(
    "Headers of other gateways about the user are removed in every spelling, also from a trusted peer",
    arguments: [
      "OIDC-Claim-Sub", "OIDC_CLAIM_groups", "oidc_access_token", "OIDC.Claim.Email", "Mellon-User", "OAM_REMOTE_USER",
      "X-Pomerium-Claim-Email", "x_pomerium_jwt_assertion", "X-Vouch-User", "X-Vouch-IdP-Claims-Groups",
      "X-authentik-username", "X_Authentik_Groups", "X-Amzn-Oidc-Identity", "x-amzn-oidc-data",
      "X-MS-CLIENT-PRINCIPAL", "X-Ms-Client-Principal-Name", "X_MS_TOKEN_AAD_ID_TOKEN",
      "X-Goog-Authenticated-User-Email", "X-Goog-IAP-JWT-Assertion", "X-AppEngine-User-Is-Admin",
      "Cf-Access-Authenticated-User-Email", "CF_ACCESS_JWT_ASSERTION", "Tailscale-User-Login", "tailscale_user_name",
      "Teleport-Jwt-Assertion", "kubeflow-userid", "Kubeflow_Groups", "X-Userinfo", "X-Consumer-Username",
      "X-Credential-Identifier", "X-Token-User-Email", "X-Token-Subject", "X-Auth-User", "X_AUTH_USERNAME",
      "X-Auth-Email", "X-Forwarded-Login", "CAS_User", "iv-user", "iv_groups", "SM_USER", "SM_USERDN",
      "X-Endpoint-API-UserInfo", "X-Apigateway-Api-Userinfo", "SM_SERVERSESSIONID", "WL-Proxy-Client-IP",
      "WL-Proxy-SSL", "Proxy-Remote-User", "X-JWT-Assertion", "x_jwt_assertion",
      "Remote-Email", "REMOTE_NAME", "Remote-Group", "Remote.Groups", "X-Forwarded-Name", "X_Forwarded_Group",
      "X-Forwarded-Groups", "X-Forwarded-Roles", "X-Forwarded-Preferred-Username", "X-Forwarded-Access-Token",
      "X-Auth-Userid", "X-Auth-Name", "X-Auth-Subject", "X-Auth-Groups", "X_AUTH_ROLES", "X-Credential-Username",
      "iv-user-l", "IV_CREDS", "X-Remote-Anything", "X-WEBAUTH-Anything", "X-Auth-Request-Anything",
      "X-Authenticated-Anything",
    ])
  func otherGateways(_ name: String) {
    for trusted in [false, true] {
      #expect(fields("A: 1", "\(name): evil", "B: 2", trusted: trusted) == ["A: 1", "B: 2"])
      #expect(fields("Connection: close, \(name)", "\(name): evil", "A: 1", trusted: trusted) == ["A: 1"])
    }
  }

  @Test(
    "Headers about a client certificate are removed in every spelling, also from a trusted peer, and as trailers",
    arguments: [
      "Client-Cert", "client_cert", "Client-Cert-Chain", "SSL_CLIENT_CERT", "SSL-Client-Cert", "Ssl-Client-Verify",
      "SSL_CLIENT_S_DN", "ssl-client-subject-dn", "X-SSL-Client-Cert", "x_ssl_client_verify", "X-Client-Cert",
      "X-Client-Verify", "X-Client-DN", "X_CLIENT_DN", "X-ARR-ClientCert", "WL-Proxy-Client-Cert",
      "X-Client-Cert-Present", "X-Client-Certificate", "X-Amzn-Mtls-Clientcert", "Cf-Client-Cert-Der-Base64",
      "X-SSL-Cert", "X-Client-S-DN", "X-Certificate-Subject", "X-Client-SSL-Cert", "X-SSL-DN", "X_SSL_VERIFY",
      "X-SSL-Subject",
    ])
  func clientCertificates(_ name: String) {
    for trusted in [false, true] {
      #expect(fields("A: 1", "\(name): evil", "B: 2", trusted: trusted) == ["A: 1", "B: 2"])
    }
    let trailers = TrailerForwarding.passing(Array("\(name): evil\r\nX-Sum: 1\r\n".utf8), rules: rules)
    #expect(String(decoding: trailers, as: UTF8.self) == "X-Sum: 1\r\n")
  }

  @Test(
    "Names that only resemble those of other gateways pass",
    arguments: [
      "SSL-Session-Id", "X-SSL-Client", "X-Client-Id", "X-Client-Version", "SM", "Small", "WL-Region", "Client-Id",
      "Sec-Fetch-Dest", "Sec-CH-UA-Platform", "Content-Type", "Priority", "Pragma", "Proxy-Client",
      "OIDC", "Tailscale", "X-Auth-Token", "X-Auth-Key", "X-Access-Token", "X-Consumer",
      "X-Amzn-Trace-Id", "X-Ms-Version", "X-Goog-Api-Key", "Cf-Connecting-IP", "Cf-Access-Client-Id", "Sec-Fetch-User",
      "Cache-Control", "X-Csrf-Token", "X-User", "X-Appengine-Country",
    ])
  func resembling(_ name: String) { #expect(fields("\(name): 1") == ["\(name): 1"]) }

  @Test("A header of another gateway arrives if the configuration sets or keeps it")
  func configuredOtherGateway() {
    let rules = ForwardingRules(
      reservedNames: ["OIDC-Claim-Email"], keptNames: ["X-Amzn-Oidc-Data"], sessionCookieName: "__Host-cordon",
      scheme: "https")
    let head = forwarded(
      "GET / HTTP/1.1\r\nHost: a\r\nOIDC_CLAIM_email: evil\r\nOIDC_CLAIM_groups: evil\r\n"
        + "x-amzn-oidc-data: kept\r\nX-Amzn-Oidc-Identity: evil\r\n\r\n",
      rules: rules, identity: SerializedIdentityHeaders([("OIDC-Claim-Email", Array("a@b".utf8))]))
    #expect(head.contains("\r\nOIDC-Claim-Email: a@b\r\n") && head.contains("\r\nx-amzn-oidc-data: kept\r\n"))
    #expect(!head.contains("evil"), "\(head)")
  }

  @Test("A name about the user passes from nobody, one about the address from a trusted peer, unless it is kept")
  func kept() {
    let keeping = ForwardingRules(
      reservedNames: ["X-Forwarded-User", "Remote-User"],
      keptNames: ["X-Real-IP", "X-Auth-Request-User", "X-Forwarded-Port", "Forwarded", "Remote-User"],
      sessionCookieName: "__Host-cordon", scheme: "https")
    func passed(_ line: String, by rules: ForwardingRules, trusted: Bool) -> Bool {
      forwarded("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n", rules: rules, trusted: trusted)
        .contains("\r\n\(line)\r\n")
    }
    for line in ["X-Real-IP: x", "X-Forwarded-Port: x"] {
      #expect(!passed(line, by: rules, trusted: false), "\(line)")
      #expect(passed(line, by: rules, trusted: true), "\(line)")
      #expect(passed(line, by: keeping, trusted: false), "\(line)")
    }
    for name in ["X-Auth-Request-User", "x_auth_request_user"] {
      for trusted in [false, true] {
        #expect(!passed("\(name): x", by: rules, trusted: trusted), "\(name)")
        #expect(passed("\(name): x", by: keeping, trusted: trusted), "\(name)")
      }
    }
    for name in [
      "Remote-User", "X-Remote-Group", "X-WEBAUTH-USER", "X_Authenticated_User", "X-Forwarded-Groups",
      "X-Forwarded-Preferred-Username", "X-Remote-Extra-Scopes", "X-Sendfile-Type", "$WSRU",
    ] {
      #expect(!passed("\(name): x", by: rules, trusted: true), "\(name)")
    }
    for name in ["X-Scheme", "Front-End-Https", "X-Forwarded-Prefix", "X-Client-IP", "Proxy-Client-IP"] {
      #expect(passed("\(name): x", by: rules, trusted: true), "\(name)")
    }
    #expect(passed("Forwarded: for=x", by: keeping, trusted: false))
    // What the configuration sets is never a client's, nor what only the gateway sends.
    for trusted in [false, true] {
      #expect(!passed("Remote-User: x", by: keeping, trusted: trusted))
      #expect(!passed("X-Forwarded-User: x", by: keeping, trusted: trusted))
      #expect(!passed("X-Forwarded-Host: x", by: keeping, trusted: trusted))
    }
    #expect(!passed("X-Auth-Request-Email: x", by: keeping, trusted: false))
  }

  @Test("The origin of an authority is that of its host on any port, and the public one where it names no host")
  func origins() {
    let rules = ForwardingRules(
      reservedNames: [], sessionCookieName: "c", scheme: "https", origin: "https://app.example.com",
      hostOrigins: [
        (host: "wiki.example.com", origin: "https://wiki.example.com"),
        (host: "wiki.example.com", origin: "https://wiki.example.com:8443"),
        (host: "[::1]", origin: "https://[::1]:8443"),
      ])
    for (authority, origin) in [
      ("wiki.example.com", "https://wiki.example.com"), ("WIKI.example.com:8080", "https://wiki.example.com"),
      ("[::1]:80", "https://[::1]:8443"), ("app.example.com", "https://app.example.com"),
      ("wiki.example.com.", "https://app.example.com"), ("a.wiki.example.com", "https://app.example.com"),
      ("wiki.example.com:x", "https://app.example.com"), ("", "https://app.example.com"),
    ] {
      #expect(rules.origin(of: Array(authority.utf8)) == origin, "\(authority)")
    }
  }

  @Test("The identity of the session is written though Connection nominates it")
  func identity() {
    let block = SerializedIdentityHeaders([
      ("X-Forwarded-User", Array("001.abc".utf8)), ("X-Forwarded-Email", Array("a@b".utf8)),
    ])
    let head = forward(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: X-Forwarded-User\r\nX-Forwarded-User: root\r\n\r\n", identity: block)
    #expect(head.contains("\r\nX-Forwarded-User: 001.abc\r\nX-Forwarded-Email: a@b\r\n"))
    #expect(!head.contains("root"))
  }

  @Test("A value that would end its line early is not an identity header")
  func identityValues() {
    let block = SerializedIdentityHeaders([
      ("A", Array("x\r\nB: y".utf8)), ("C", Array("z\0".utf8)), ("D", Array("tab\tis fine".utf8)),
    ])
    #expect(block.lines == Array("D: tab\tis fine\r\n".utf8))
  }

  @Test("Hop-by-hop fields are not forwarded, nor those that Connection nominates")
  func hopByHop() {
    #expect(
      fields(
        "Connection: keep-alive, X-One ,x-two", "Keep-Alive: 5", "Proxy-Connection: x", "TE: trailers", "Trailer: X",
        "Upgrade: websocket", "HTTP2-Settings: AAA", "Proxy-Authorization: x", "X-One: 1", "X-TWO: 2", "X-Three: 3",
        "Authorization: kept") == ["X-Three: 3", "Authorization: kept"])
    #expect(fields("X-One: 1", "Connection: X-One") == [])
  }

  @Test("Host, Content-Length and the cookies cannot be nominated away")
  func framingNominated() {
    let head = forward(
      "POST / HTTP/1.1\r\nConnection: Host, Content-Length\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
    #expect(head.contains("\r\nHost: a\r\n") && head.contains("\r\nContent-Length: 5\r\n"))
  }

  @Test("The authority of an absolute form becomes Host, and its path the target")
  func absoluteForm() {
    let head = forward("GET http://real.example/p?q HTTP/1.1\r\nAccept: x\r\nHost: other.example\r\n\r\n")
    #expect(head.hasPrefix("GET /p?q HTTP/1.1\r\nHost: real.example\r\nAccept: x\r\n"))
    #expect(head.contains("X-Forwarded-Host: real.example\r\n") && !head.contains("other.example"))
    #expect(
      forward("GET http://real.example HTTP/1.1\r\nHost: b\r\n\r\n").hasPrefix(
        "GET / HTTP/1.1\r\nHost: real.example\r\n"))
    #expect(
      forward("GET http://real.example?q HTTP/1.0\r\n\r\n").hasPrefix("GET /?q HTTP/1.1\r\nHost: real.example\r\n"))
  }

  @Test("HTTP/1.0 becomes HTTP/1.1, with an empty Host where none came")
  func oldVersion() {
    #expect(forward("GET /x HTTP/1.0\r\nA: b\r\n\r\n").hasPrefix("GET /x HTTP/1.1\r\nHost: \r\nA: b\r\n"))
    let named = forward("GET /x HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
    #expect(named.hasPrefix("GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For"))
    #expect(forward("OPTIONS * HTTP/1.0\r\nHost: a\r\n\r\n").hasPrefix("OPTIONS * HTTP/1.1\r\nHost: a\r\n"))
    #expect(forward("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").hasPrefix("OPTIONS * HTTP/1.1\r\nHost: a\r\n"))
  }

  @Test("Chunks are announced by the gateway, a length as it came")
  func framing() {
    let chunked = forward("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\nA: b\r\n\r\n")
    #expect(chunked.contains("\r\nTransfer-Encoding: chunked\r\n") && !chunked.contains("CHUNKED"))
    #expect(fields("Content-Length: 7") == ["Content-Length: 7"])
  }

  @Test("An upgrade is passed on only when it is allowed")
  func upgrade() {
    let request =
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n"
    let allowed = forward(request, upgrades: true)
    #expect(
      allowed.hasSuffix("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        && allowed.contains("Sec-WebSocket-Key: k"))
    let denied = forward(request)
    #expect(!denied.contains("Upgrade") && !denied.contains("Connection"))
  }

  @Test("A trusted peer's word about addresses is kept and added to, not its word about paths")
  func trusted() {
    let lines = fields(
      "X-Forwarded-For: 203.0.113.1", "X-Real-IP: 203.0.113.1", "Forwarded: for=x", "X-Forwarded-Port: 443",
      "Script-Name: /s", "X-Script-Name: /s", "Path-Info: /s", "Daphne_Root_Path: /s", "X-Original-URI: /x",
      "X-Original-URL: /y", "X_Original_URL: /y", "X-Rewrite-URL: /z", "X-Override-URL: /z",
      "X-HTTP-DestinationURL: http://a/z", "X-Original-Host: b", "X-Forwarded-Proto: http",
      "X-Forwarded-Host: evil", "X-Forwarded-User: root", "X_Forwarded_User: root", trusted: true)
    #expect(
      lines == [
        "X-Real-IP: 203.0.113.1", "X-Forwarded-Port: 443", "X-Original-URI: /x", "X-Original-Host: b",
        "X-Forwarded-For: 203.0.113.1, 192.0.2.7", "Forwarded: for=x, for=192.0.2.7;host=\"a\";proto=https",
      ])
    #expect(
      fields("X-Forwarded-For:", "X-Forwarded-For: a", "X-Forwarded-For: b", trusted: true) == [
        "X-Forwarded-For: a, b, 192.0.2.7"
      ])
  }

  @Test("An empty line of X-Forwarded-For stays an empty element, which ends the search for the client")
  func emptyForwardedFor() {
    #expect(
      fields("X-Forwarded-For: a", "X-Forwarded-For:", trusted: true) == ["X-Forwarded-For: a, , 192.0.2.7"])
    #expect(
      fields("X-Forwarded-For: a", "X-Forwarded-For:", "X-Forwarded-For: b", trusted: true) == [
        "X-Forwarded-For: a, , b, 192.0.2.7"
      ])
    let empty = forward("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For:\r\nX-Forwarded-For:\r\n\r\n", trusted: true)
    #expect(empty.contains("\r\nX-Forwarded-For: 192.0.2.7\r\n"))
  }

  @Test(
    "The gateway's cookies never go upstream, the application's always do",
    arguments: [
      ("__Host-cordon=v", nil), ("__Host-cordon=v; a=1", "a=1"), ("a=1; __Host-cordon=v; b=2", "a=1; b=2"),
      ("a=1; __Host-cordon=v", "a=1"), ("a=1;__Host-cordon=v;b=2", "a=1;b=2"),
      ("__Host-cordon=x; __Host-cordon-attempt-1=y; __Host-cordon=z", nil),
      ("__Host-cordon-attempt-9=y; a=1; __HOST-CORDON=v; b=2; __Host-cordon=z", "a=1; b=2"),
      ("a=1; b=\"x y\"; c", "a=1; b=\"x y\"; c"), ("__Host-cordonx=app; a=1", "__Host-cordonx=app; a=1"),
      ("__Host-cordon", nil), (" ; __Host-cordon=v ;  a=1 ", "; a=1"), ("", nil),
    ] as [(String, String?)])
  func cookies(_ line: String, _ expected: String?) {
    let lines = fields("A: 1", "Cookie: \(line)", "B: 2")
    #expect(!lines.contains { $0.lowercased().contains("__host-cordon=") })
    guard let expected else { return #expect(lines == ["A: 1", "B: 2"]) }
    #expect(lines.count == 3 && lines.first == "A: 1" && lines.last == "B: 2")
    // White space between pairs is not what matters.
    let pairs = lines[1].dropFirst("Cookie: ".count).split(separator: ";").map { $0.drop { $0 == " " } }
    #expect(pairs == expected.split(separator: ";").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty })
  }

  @Test("Cookies in several lines stay in theirs")
  func cookieLines() {
    #expect(
      fields("Cookie: a=1; __Host-cordon=v", "X: y", "Cookie: __Host-cordon-attempt-1=w", "Cookie: b=2")
        == ["Cookie: a=1", "X: y", "Cookie: b=2"])
  }
}

let requestID = RequestIDSource.Identifier(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
let requestIDText = "0123456789abcdeffedcba9876543210"

/// Reads a head and writes it as it goes upstream; what cannot be read gives its violation's words.
func forwarded(
  _ text: String, rules: ForwardingRules, identity: SerializedIdentityHeaders? = nil, trusted: Bool = false,
  upgrades: Bool = false, upstream: UpstreamRewriting? = nil
) -> String {
  let bytes = Array(text.utf8)
  var head = RequestHead()
  let parser = RequestHeadParser(limits: HeadLimits(headBytes: 32_768, fieldCount: 100, targetBytes: 8_192))
  let outcome = parser.parse(bytes.span.bytes, into: &head)
  guard outcome == .complete else { return "\(outcome)" }
  rules.gatewayCookies.find(bytes.span.bytes, in: &head)
  var buffer = ByteBuffer()
  RequestForwarding.write(
    head, bytes.span.bytes, rules: rules,
    context: .init(
      identity: identity, address: "192.0.2.7", trusted: trusted,
      requestID: requestID, upgrades: upgrades, rewriting: upstream),
    to: &buffer)
  return String(buffer: buffer)
}
