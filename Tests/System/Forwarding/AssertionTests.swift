import Foundation
import TemporaryDirectoryTesting
import Testing

// The signed identity assertion.
//
// - Signed-in requests carry one, others none; it says who, to whom and how long; what clients send is removed.
// - Within a minute a session has one, over connections, loops and `verify`; then another.
// - The keys are published; after a change of the keys both verify.
// - The examples in Python, PHP and Node believe a good one and nothing else.
// - Key files: those that everybody may read are refused; what is missing is told with the remedy.

@SystemActor
@Suite("The signed identity assertion", .serialized)
struct AssertionTests {
  private static func site(_ keys: [AssertionKeyFile], fakeClock: Bool = false) throws -> Site {
    try Site(
      fakeClock: fakeClock,
      adjust: { configuration in
        configuration["assertion", "key_files"] = "[\(keys.map { "\"\($0.path)\"" }.joined(separator: ", "))]"
        configuration["assertion", "audience"] = "\"orders\""
        configuration.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
      })
  }

  /// The header that the application got with a request of its own path.
  private static func assertion(_ site: Site, _ visitor: Visitor, _ path: String) throws -> String {
    #expect(try visitor.fetch("\(site.origin)\(path)").status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == path }
    #expect(seen.fields[all: "X-Identity-Assertion"].count == 1)
    return try #require(seen.fields["X-Identity-Assertion"])
  }

  @Test("Signed-in requests carry an assertion of who it is, public ones without a session none")
  func claims() throws {
    let key = try AssertionKeyFile()
    let site = try Self.site([key])
    defer { site.stop() }
    let anna = try site.signedIn()
    let token = try JWTParts(try Self.assertion(site, anna, "/orders"))
    let keys = try #require(
      try site.gateway.client.get("/.auth/keys").json()["keys"] as? [[String: Any]])
    #expect(token.header["alg"] as? String == "ES256")
    #expect(token.header["kid"] as? String == keys[0]["kid"] as? String)
    let claims = token.claims
    #expect(claims["iss"] as? String == site.origin)
    #expect(claims["aud"] as? String == "orders")
    #expect(claims["sub"] as? String == (try site.apple.subject(of: "anna")))
    #expect(claims["email"] as? String == "anna.bergstrom@example.com")
    #expect(claims["email_verified"] as? Bool == true)
    #expect(claims["name"] as? String == "Anna Bergström")
    let session = try anna.fetch(site.own("session")).json()
    #expect(claims["sid"] as? String == session["session_id"] as? String)
    let (issued, expires) = (claims["iat"] as? Int ?? 0, claims["exp"] as? Int ?? 0)
    #expect(expires - issued == 300)
    // On a public route too, where there is a session; and nowhere without.
    _ = try Self.assertion(site, anna, "/public/a")
    _ = try Visitor().fetch(
      "\(site.origin)/public/b", fields: [("X-Identity-Assertion", "forged"), ("X_Identity.Assertion", "forged")])
    let stranger = try site.upstream.waitForRequest { $0.target == "/public/b" }
    #expect(!stranger.headText.lowercased().contains("assertion"))
    // An address that Apple has not verified is not told.
    let eve = try JWTParts(try Self.assertion(site, try site.signedIn(as: "eve"), "/eve"))
    #expect(eve.claims["email"] == nil)
    #expect(eve.claims["email_verified"] as? Bool == false)
  }

  @Test("A client's assertion never arrives, in any spelling, and ours does")
  func stripped() throws {
    let site = try Self.site([try AssertionKeyFile()])
    defer { site.stop() }
    let anna = try site.signedIn()
    let spellings = ["X-Identity-Assertion", "x_identity_assertion", "X.Identity.Assertion", "X-IDENTITY_ASSERTION"]
    for (number, name) in spellings.enumerated() {
      _ = try anna.fetch("\(site.origin)/s\(number)", fields: [(name, "evil-mallory")])
      let seen = try site.upstream.waitForRequest { $0.target == "/s\(number)" }
      #expect(!seen.headText.contains("evil-mallory"))
      #expect(seen.fields[all: "X-Identity-Assertion"].count == 1)
    }
  }

  @Test("Within a minute a session has one assertion, whichever connection asks; after it another")
  func onceAMinute() throws {
    let site = try Self.site([try AssertionKeyFile()], fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    var tokens: Set<String> = []
    // Each on a connection of its own, so that every event loop gets some.
    for number in 0..<20 { tokens.insert(try Self.assertion(site, anna, "/n\(number)")) }
    let verified = try anna.fetch(site.own("verify")).fields["X-Identity-Assertion"]
    tokens.insert(try #require(verified))
    #expect(tokens.count == 1)
    // Two minutes later one request may still carry the old one, and has it replaced; it never expires in use.
    try site.setClock(secondsAhead: 120)
    let first = try #require(tokens.first)
    let renewed = try poll("another assertion") { () -> String? in
      let token = try Self.assertion(site, anna, "/later-\(UUID().uuidString)")
      return token == first ? nil : token
    }
    let (before, after) = (try JWTParts(first).claims, try JWTParts(renewed).claims)
    #expect((after["iat"] as? Int ?? 0) - (before["iat"] as? Int ?? 0) >= 60)
    // An hour later the old one is over: the first request has a fresh one already.
    try site.setClock(secondsAhead: 3_600)
    let fresh = try JWTParts(try Self.assertion(site, anna, "/much-later")).claims
    #expect((fresh["iat"] as? Int ?? 0) - (before["iat"] as? Int ?? 0) >= 3_500)
  }

  @Test("No assertion of a time to come is sent after the clock was set back")
  func clockSetBack() throws {
    let site = try Self.site([try AssertionKeyFile()], fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.setClock(secondsAhead: 20 * 60)
    _ = try Self.assertion(site, anna, "/ahead")
    try site.setClock(secondsAhead: 0)
    let issued = try JWTParts(try Self.assertion(site, anna, "/right")).claims["iat"] as? Int
    #expect(try #require(issued) <= Int(Date.now.timeIntervalSince1970) + 1)
  }

  @Test("After a change of the keys the new one signs, and what the old one signed still verifies")
  func rotation() throws {
    let (old, new) = (try AssertionKeyFile(), try AssertionKeyFile())
    let site = try Self.site([old, new])
    defer { site.stop() }
    let anna = try site.signedIn()
    let before = try Self.assertion(site, anna, "/before")
    var changed = site.gateway.configuration
    changed["assertion", "key_files"] = "[\"\(new.path)\", \"\(old.path)\"]"
    try site.gateway.restart(with: changed)
    let after = try Self.assertion(site, anna, "/after")
    let (oldKey, newKey) = (try JWTParts(before).header["kid"] as? String, try JWTParts(after).header["kid"] as? String)
    #expect(oldKey != newKey)
    let response = try site.gateway.client.get("/.auth/keys")
    #expect(response.fields["Content-Type"] == "application/jwk-set+json")
    let keys = try #require(try response.json()["keys"] as? [[String: Any]])
    #expect(keys.map { $0["kid"] as? String } == [newKey, oldKey])
    #expect(keys.allSatisfy { $0["d"] == nil })
    for verifier in Verifier.allCases {
      for token in [before, after] {
        #expect(try verifier.run(site, token).exit == .code(0), "\(verifier)")
      }
    }
  }

  /// The examples, each as a command.
  enum Verifier: String, CaseIterable {
    case python, php, node

    @SystemActor
    func run(
      _ site: Site, _ token: String, audience: String = "orders", issuer: String? = nil,
      environment: [String: String] = [:]
    ) throws -> (exit: ServerProcess.Exit, standardOutput: String, standardError: String) {
      let (program, package, file) =
        switch self {
        case .python: ("python3", "python3-jwt", "verify_assertion.py")
        case .php: ("php", "php-cli", "verify-assertion.php")
        case .node: ("node", "nodejs", "verify-assertion.mjs")
        }
      let directory = try TemporaryDirectory()
      let input = try directory.write(token + "\n", to: "assertion")
      let script = Machine.packageRoot.appending(path: "examples/verify-assertion/\(file)").path
      return try ServerProcess.run(
        "/bin/sh",
        [
          "-c", "exec \"$0\" \"$@\" < '\(input)'", try Machine.program(program, package: package), script,
          site.own("keys"), issuer ?? site.origin, audience,
        ], environment: environment)
    }
  }

  @Test("The example believes a good assertion, and no changed, foreign or old one", arguments: Verifier.allCases)
  func examples(verifier: Verifier) throws {
    let site = try Self.site([try AssertionKeyFile()])
    defer { site.stop() }
    let token = try Self.assertion(site, try site.signedIn(), "/orders")
    let good = try verifier.run(site, token)
    #expect(good.exit == .code(0), "\(good.standardError)")
    let claims = try JSONSerialization.jsonObject(with: Data(good.standardOutput.utf8)) as? [String: Any]
    #expect(claims?["sub"] as? String == (try site.apple.subject(of: "anna")))
    #expect(claims?["name"] as? String == "Anna Bergström")

    let parts = try JWTParts(token)
    var forged: [(String, String)] = [
      ("nothing", ""), ("nonsense", "a.b.c"), ("no signature", "\(parts.parts[0]).\(parts.parts[1])."),
      ("half a signature", String(token.dropLast(20))),
    ]
    var other = parts.claims
    other["sub"] = "001.mallory"
    forged.append(
      ("another sub", try JWTParts.token(header: parts.header, claims: other, signature: parts.parts[2])))
    for (name, header) in [
      ("alg none", ["alg": "none", "kid": parts.header["kid"] ?? ""]),
      ("HS256", ["alg": "HS256", "kid": parts.header["kid"] ?? ""]), ("another key", ["alg": "ES256", "kid": "other"]),
      ("no key", ["alg": "ES256"]),
    ] {
      let signature = name == "alg none" ? "" : parts.parts[2]
      forged.append((name, try JWTParts.token(header: header, claims: parts.claims, signature: signature)))
    }
    for (name, token) in forged {
      let result = try verifier.run(site, token)
      #expect(result.exit == .code(1), "\(verifier) with \(name): \(result.standardOutput)\(result.standardError)")
      #expect(result.standardError.contains("invalid assertion"), "\(name): \(result.standardError)")
    }
    #expect(try verifier.run(site, token, audience: "payroll").exit == .code(1), "another audience")
    #expect(try verifier.run(site, token, issuer: "https://evil.example").exit == .code(1), "another issuer")
    let clock = try FakeClock()
    for (seconds, status) in [(301, 1), (-30, 0), (-600, 1)] as [(Int, Int32)] {
      try clock.set(secondsAhead: seconds)
      let result = try verifier.run(site, token, environment: clock.environment)
      #expect(result.exit == .code(status), "\(seconds) s ahead: \(result.standardError)")
    }
  }

  @Test("Without keys nothing is signed, and the published set is empty")
  func switchedOff() throws {
    let site = try Site()
    defer { site.stop() }
    _ = try site.signedIn().fetch("\(site.origin)/orders")
    let seen = try site.upstream.waitForRequest { $0.target == "/orders" }
    #expect(!seen.fields.contains("X-Identity-Assertion"))
    #expect((try site.gateway.client.get("/.auth/keys").json()["keys"] as? [Any])?.isEmpty == true)
  }

  @Test("check and run refuse a key that everybody may read, and what is not a key, with the remedy")
  func badKeys() throws {
    let key = try AssertionKeyFile()
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:3000")
    configuration["assertion", "audience"] = "\"orders\""
    configuration["assertion", "key_files"] = "[\"\(key.path)\"]"
    let file = try configuration.install(in: directory)
    func cordon(_ command: String) throws -> (exit: ServerProcess.Exit, text: String) {
      let result = try ServerProcess.run(
        Machine.binary("cordon"), [command, "--config", file], directory: directory.path)
      return (result.exit, result.standardOutput + result.standardError)
    }
    #expect(try cordon("check").exit == .code(0))
    try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: key.path)
    for command in ["check", "run"] {
      let open = try cordon(command)
      #expect(open.exit == .code(78) && open.text.contains("chmod o="), "\(command): \(open.text)")
    }
    configuration["assertion", "key_files"] = "[\"session.key\"]"
    _ = try configuration.install(in: directory)
    let wrong = try cordon("check")
    #expect(wrong.exit == .code(78) && wrong.text.contains("cordon keygen --assertion"), "\(wrong.text)")
    configuration["assertion", "key_files"] = nil
    _ = try configuration.install(in: directory)
    let missing = try cordon("check")
    #expect(missing.exit == .code(78) && missing.text.contains("assertion.key_files"), "\(missing.text)")
  }
}
