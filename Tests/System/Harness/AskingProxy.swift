import Foundation
import Testing

/// The expectations on every proxy that asks the gateway about each request (`verify`) and forwards by itself, as the
/// examples configure it.
@SystemActor
enum AskingProxy {
  /// Headers that an application could take for the gateway's or the proxy's, and those that servers of applications
  /// take a path prefix out of.
  nonisolated private static let reservedNames = [
    "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Name", "X-Forwarded-Groups", "X-Forwarded-Prefix",
    "X-Forwarded-Host", "X-Forwarded-Proto", "X-Identity-Assertion", "Remote-User", "X-Remote-User", "Script-Name",
    "X-Script-Name", "Path-Info", "Daphne-Root-Path", "X-Sendfile-Type", "X-Accel-Mapping",
    // The user of gateways that an application had before.
    "Remote-Email", "Remote-Name", "Remote-Groups", "X-Auth-Request-User", "X-Auth-Request-Email", "X-WEBAUTH-USER",
    "X-Forwarded-Preferred-Username", "X-Forwarded-Access-Token", "X-Forwarded-Group", "X-Forwarded-Roles",
    "X-Forwarded-Login", "X-Remote-Email", "X-Remote-Name", "X-Remote-Group", "X-Remote-Groups", "Remote-Group",
    "X-WEBAUTH-EMAIL",
    // The client's address, the scheme and the host.
    "Forwarded", "Forwarded-For", "X-Forwarded", "X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-Ssl",
    "X-Real-IP", "Client-IP", "Proxy-Client-IP", "X-Client-IP", "True-Client-IP", "X-Cluster-Client-IP", "X-Scheme",
    "X-Url-Scheme", "Front-End-Https", "X-Request-Id", "X-Host", "X-HTTP-Host-Override", "X-Original-Host",
    // The client's certificate.
    "Client-Cert", "Client-Cert-Chain", "SSL-Client-Cert", "SSL-Client-Verify", "X-SSL-Client-Cert",
    "X-SSL-Client-Verify", "X-SSL-Client-S-DN", "X-SSL-Cert", "X-Client-Cert", "X-Client-Verify", "X-Client-DN",
    "X-ARR-ClientCert", "X-Amzn-Mtls-Clientcert", "WL-Proxy-Client-Cert",
  ]
  /// Headers by which an application takes another path or method. The proxy removes them, or the gateway refuses them.
  nonisolated private static let overrides = [
    "X-Original-URL", "X-Rewrite-URL", "X-Override-URL", "X-HTTP-DestinationURL", "X-HTTP-Method-Override",
    "X-HTTP-Method", "X-Method-Override", "Proxy",
  ]

  /// Starts the application and the gateway that the proxy stands before, with public pages.
  static func startServers(of example: Example) throws {
    let publicRoute = "\n[[route]]\npath = \"/public/\"\nmethods = [\"GET\"]\naccess = \"public\"\n"
    try example.change("gateway.conf") { $0 + publicRoute }
    let app = Machine.packageRoot.appending(path: "examples/legacy-wsgi/app.py").path
    try example.start(
      Machine.program("python3", package: "python3"), [app, "\(example.port(3_000))"], listeningOn: 3_000)
    try example.startGateway(listeningOn: 8_081)
  }

  /// Strangers are led to sign in and back, users come through with their headers, forged ones do not, and the
  /// gateway's rules hold.
  /// - Parameters:
  ///   - tellsScripts: whether a script without a session gets 401, rather than the redirect of a browser.
  ///   - appendsAddress: whether the application gets the client's own `X-Forwarded-For`, with the address appended.
  ///   - hidesSession: whether the application does not get the gateway's cookie.
  static func check(
    _ example: Example, tellsScripts: Bool = true, appendsAddress: Bool = false, hidesSession: Bool = false
  ) throws {
    let toScripts = tellsScripts ? 401 : 302
    // Not signed in: to the sign-in page, and back to what was wanted. Dana has no address.
    let (visitor, page) = try example.signedIn(as: "dana", at: "/headers")
    #expect(page.address.path == "/headers")
    #expect(page.text.contains("X-Forwarded-User: "), "\(page.text)")
    #expect(page.text.contains("X-Forwarded-Name: Dana"), "\(page.text)")
    let subject = try example.apple.subject(of: "dana")
    #expect(page.text.contains(subject))
    #expect(!page.text.contains("X-Forwarded-Email"), "\(page.text)")

    // The whole address is wanted again: query, escapes and slashes.
    for wanted in ["/headers?a=1&b=%26%2F", "/headers%20x//y%2Fz?q=%0d%0aX-Injected:%20yes"] {
      let led = try Visitor().open(example.origin + wanted, following: false)
      #expect((300..<400).contains(led.status), "\(wanted): \(led.status)")
      #expect(!led.response.fields.contains("X-Injected"))
      let location = try WebAddress(#require(led.response.location), relativeTo: led.address)
      #expect(location.path == "/.auth/sign-in" && location[parameter: "return_to"] == wanted, "\(location)")
    }
    // What splits a response when it is decoded is denied, and splits none.
    let client = HTTPClient(port: example.port(8_080), authority: "localhost:\(example.port(8_080))")
    let split = try client.get("/a%0d%0aX-Injected:%20yes")
    #expect(!split.fields.contains("X-Injected"))
    // The query of the original request is the application's, not a restriction of who may pass.
    #expect(try visitor.fetch(example.origin + "/headers?allowed_groups=a&redirect=1").status == 200)
    // A navigation that a service worker of the application passes on, as Firefox sends it, is led to sign in, too.
    let passedOn = [
      ("Accept", "text/html,*/*"), ("Sec-Fetch-Mode", "same-origin"), ("Sec-Fetch-Dest", "empty"),
      ("Sec-Fetch-Site", "same-origin"), ("Upgrade-Insecure-Requests", "1"),
    ]
    #expect(try client.get("/headers", fields: passedOn).status == 302)
    // A script is told, not sent away.
    let script = try Visitor().fetch(example.origin + "/headers", fields: [("Accept", "application/json")])
    #expect(script.status == toScripts)

    let forged = try visitor.fetch(
      example.origin + "/headers",
      fields: [("X-Forwarded-User", "001234.forged"), ("X-Forwarded-Email", "ben@example.com")])
    #expect(forged.status == 200)
    #expect(!forged.text.contains("forged") && !forged.text.contains("ben@example.com"), "\(forged.text)")
    try checkReservedNames(example, visitor, subject: subject)
    if hidesSession {
      let cookies = try #require(try visitor.cookieHeader(for: example.origin + "/headers"))
      let sent = try Visitor().fetch(
        example.origin + "/headers", fields: [("Cookie", "first=1; \(cookies); last=2")])
      #expect(sent.status == 200 && sent.text.contains("first=1") && sent.text.contains("last=2"), "\(sent.text)")
      let session = try #require(cookies.firstMatch(of: /__Host-cordon=([^;]+)/)?.1)
      #expect(!sent.text.contains(session), "\(sent.text)")
      // Nor any of several, as no browser sends them.
      let several = try Visitor().fetch(
        example.origin + "/headers", fields: [("Cookie", "\(cookies); __Host-cordon=x; first=1; \(cookies)")])
      #expect(several.status == 200 && !several.text.contains(session), "\(several.text)")
    }
    // Nor does the application get a machine token, not even on a public route.
    let encoded = Data("token:cdn_of-a-program".utf8).base64EncodedString()
    for credentials in ["Bearer cdn_of-a-program", "basic \(encoded)"] {
      let sent = try Visitor().fetch(example.origin + "/public/headers", fields: [("Authorization", credentials)])
      #expect(sent.status == 200 && !sent.text.contains("Authorization"), "\(sent.text)")
    }
    let addressed = try visitor.fetch(example.origin + "/headers", fields: [("X-Forwarded-For", "203.0.113.7")])
    // ingress-nginx tells what the client sent in X-Original-Forwarded-For.
    let believesClient = addressed.text.contains(/X-Forwarded-For: [^\n]*203\.0\.113\.7/)
    #expect(addressed.status == 200 && (appendsAddress || !believesClient), "\(addressed.text)")
    // The gateway's rule for the path that the proxy was asked for, whatever the client says that it is.
    for forged in [
      ("X-Original-URI", "/"), ("X-Forwarded-Uri", "/"), ("X-Original-URL", "\(example.origin)/"),
      ("X-Forwarded-Host", "evil.test"), ("X-Forwarded-Method", "OPTIONS"), ("X-Forwarded-For", "10.0.0.1"),
      ("X-Auth-Redirect", "1"), ("X-Original-Method", "GET"),
    ] {
      #expect(try visitor.fetch(example.origin + "/office/", fields: [forged]).status == 403, "\(forged)")
      let page = try visitor.fetch(example.origin + "/headers", fields: [forged])
      #expect(page.status == 200 || page.status == 403 && forged.0 == "X-Original-URL", "\(forged): \(page.status)")
      let stranger = try Visitor().fetch(example.origin + "/headers", fields: [forged, ("Accept", "*/*")])
      #expect(stranger.status == toScripts, "\(forged)")
    }
    // Destination names a second resource, for which the rules hold as well, whatever the method.
    func status(to path: String) throws -> Int {
      try visitor.fetch(example.origin + "/headers", fields: [("Destination", example.origin + path)]).status
    }
    #expect(try status(to: "/office/copy") == 403)
    #expect(try status(to: "/copy") == 200)
    // What answers the proxy is not for clients, who would say themselves what they ask about.
    for path in [
      "verify", "verify/", "verify/x", "verify?redirect=1", "%76erify", "/verify", "verify/../x", "verify/%2e%2e/x",
      "verify/../../.auth/session",
    ] {
      let fields = ["X-Original-URI", "X-Forwarded-Uri"].map { ($0, "/") } + [("X-Forwarded-Method", "GET")]
      let answer = try visitor.fetch(example.origin + "/.auth/\(path)", fields: fields)
      #expect(!answer.fields.contains("X-Forwarded-User"), "\(path): \(answer.status)")
    }
    // The application is asked for no protocol that would carry requests past the gateway.
    for upgrades in [["h2c"], ["h2c, websocket"], ["websocket", "h2c"], ["h2c", "websocket"]] {
      let fields = [("Connection", "Upgrade")] + upgrades.map { ("Upgrade", $0) }
      for (someone, path) in [(visitor, "/headers"), (Visitor(), "/public/headers")] {
        let answer = try someone.fetch(example.origin + path, fields: fields)
        #expect([200, 400, 403].contains(answer.status), "\(upgrades): \(answer.status)")
        #expect(!answer.text.contains("h2c"), "\(upgrades): \(answer.text)")
      }
    }
    // Methods that an application could answer with a tunnel, or with what it was sent, do not reach it.
    for method in ["CONNECT", "TRACE"] {
      let answer = try visitor.fetch(example.origin + "/headers", method: method)
      let isOfApplication = answer.text.contains("There is no such page.")
      #expect(answer.status >= 400 && !isOfApplication, "\(method): \(answer.status) \(answer.text)")
    }
    // No method passes where the rule is for all.
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
      #expect(try visitor.fetch(example.origin + "/office/", method: method).status == 403, "\(method)")
    }
  }

  /// No header of a client that an application could take for one of the gateway's, or for a path prefix, comes through
  /// in any spelling; nor does `Connection` remove the gateway's.
  private static func checkReservedNames(_ example: Example, _ visitor: Visitor, subject: String) throws {
    let stranger = Visitor()
    let page = try stranger.fetch(example.origin + "/public/headers")
    #expect(page.status == 200)
    for name in ["X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Name"] {
      #expect(!page.text.contains(name), "\(page.text)")
    }
    for (someone, path) in [(visitor, "/headers"), (stranger, "/public/headers")] {
      for name in reservedNames {
        for spelling in spellings(of: name) {
          let spelled = try someone.fetch(example.origin + path, fields: [(spelling, "forged")])
          #expect(
            [200, 400].contains(spelled.status) && !spelled.text.contains("forged"), "\(spelling): \(spelled.text)")
        }
      }
    }
    for (someone, path) in [(visitor, "/headers"), (stranger, "/public/headers")] {
      for name in overrides {
        for spelling in spellings(of: name) {
          let spelled = try someone.fetch(example.origin + path, fields: [(spelling, "forged")])
          #expect(
            [200, 400, 403].contains(spelled.status) && !spelled.text.contains("forged"),
            "\(spelling): \(spelled.status) \(spelled.text)")
        }
      }
    }
    for nominated in ["X-Forwarded-User", "close, X-Forwarded-Email, X-Forwarded-User, X-Forwarded-Name"] {
      for more in [[], [("X.Forwarded.User", "forged")]] as [[(String, String)]] {
        let answer = try visitor.fetch(example.origin + "/headers", fields: [("Connection", nominated)] + more)
        #expect(answer.status == 200 && answer.text.contains("X-Forwarded-User: \(subject)"), "\(answer.text)")
        #expect(!answer.text.contains("forged"), "\(answer.text)")
      }
    }
  }

  /// A name, and others that CGI, WSGI, PHP or lighttpd take for the same.
  private static func spellings(of name: String) -> [String] {
    let separated = ["-", "_", ".", "~", "!", "|"].map { name.replacing("-", with: $0) }
    return separated + [name.lowercased(), name.replacing("-", with: ".", maxReplacements: 1)]
  }
}
