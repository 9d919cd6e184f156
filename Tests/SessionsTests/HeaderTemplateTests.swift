import Foundation
import Secrets
import Testing

@testable import Sessions

// Cases: text and claims, each filter, encodings, claims that cannot be sent, Basic credentials, requests without a
// user, secrecy.

@Suite("Header values with claims in them")
struct HeaderTemplateTests {
  private func source(
    email: String? = "Ada.L@Example.com", verified: Bool = true, allowsUnverified: Bool = false,
    name: PersonName? = PersonName(given: "Ada", family: "Lovelace"), other: [String: ClaimValue] = [:]
  ) throws -> ClaimSource {
    var claims = AccountClaims()
    claims.email = email
    claims.emailVerified = verified
    claims.other = other
    return ClaimSource(
      account: try makeAccount(name: name, claims: claims), session: try makeSession(), groups: ["a", "b"],
      allowsUnverifiedEmail: allowsUnverified)
  }

  private static func text(_ text: String) -> HeaderTemplate.Part { .text(TemplateText(text)) }

  private static func claim(
    _ name: String, _ filters: [HeaderTemplate.Filter] = [], _ encoding: HeaderTemplate.Encoding? = nil
  ) -> HeaderTemplate.Part {
    var claim = HeaderTemplate.Claim(name)
    claim.filters = filters
    claim.encoding = encoding
    return .claim(claim)
  }

  /// The value, or the reason that there is none.
  private func render(
    _ parts: HeaderTemplate.Part..., of claims: ClaimSource, encoding: HeaderTemplate.Encoding = .percent
  ) -> String {
    do throws(HeaderOmissionError) {
      let value = try HeaderTemplate(source: "", parts: parts).render(claims, encoding: encoding)
      // Bytes one by one, so that each encoding can be told.
      return String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
    } catch {
      return error.reason
    }
  }

  @Test("Text and claims follow each other")
  func parts() throws {
    let claims = try source()
    #expect(render(Self.text("prod"), of: claims) == "prod")
    #expect(
      render(Self.text("<"), Self.claim("given_name"), Self.text(" "), Self.claim("groups"), Self.text(">"), of: claims)
        == "<Ada a,b>")
  }

  @Test(
    "The local part is sent for a verified address of the domain only",
    arguments: [
      ("ada@example.com", "ada"), ("Ada@EXAMPLE.com", "Ada"), ("ada@other.example", nil), ("ada@sub.example.com", nil),
      ("ada@example.com.evil", nil), ("admin@evil@example.com", nil), ("\"admin@x\"@example.com", nil),
      ("@example.com", nil), ("example.com", nil), ("ada@", nil), ("ada@example.com@", nil),
      ("ada@ex\u{0430}mple.com", nil), ("ada@example.com ", nil),
    ] as [(String, String?)])
  func local(_ email: String, _ expected: String?) throws {
    let parts = Self.claim("email", [.local(domain: "example.com")])
    #expect(
      render(parts, of: try source(email: email)) == expected ?? "there is no verified address of example.com")
    #expect(
      render(parts, of: try source(email: email, verified: false, allowsUnverified: true))
        == "there is no verified address of example.com")
  }

  @Test("Filters change ASCII letters and nothing else, in their order")
  func letters() throws {
    let claims = try source(other: ["x": .text("aÄZ{|}[\\]^_`@1")])
    #expect(render(Self.claim("x", [.lower]), of: claims) == "a%C3%84z{|}[\\]^_`@1")
    #expect(render(Self.claim("x", [.upper]), of: claims) == "A%C3%84Z{|}[\\]^_`@1")
    #expect(render(Self.claim("x", [.upper, .lower]), of: claims) == "a%C3%84z{|}[\\]^_`@1")
    #expect(render(Self.claim("email", [.lower, .local(domain: "example.com"), .upper]), of: claims) == "ADA.L")
  }

  @Test("A claim has the encoding that it states, or that of the header")
  func encodings() throws {
    let claims = try source(other: ["x": .text("é%")])
    #expect(render(Self.claim("x"), of: claims) == "%C3%A9%25")
    #expect(render(Self.claim("x"), of: claims, encoding: .utf8) == "\u{C3}\u{A9}%")
    #expect(render(Self.claim("x", [], .percent), of: claims, encoding: .utf8) == "%C3%A9%25")
    #expect(render(Self.claim("x", [], .latin1), of: claims) == "\u{E9}%")
    let padded = try source(other: ["x": .text("  é a ")])
    #expect(render(Self.claim("x", [], .latin1), of: padded) == "\u{E9} a", "a field value has no outer white space")
    let reason = "the claim y cannot be encoded as latin1"
    for text in ["Ł", "日", "\u{85}", "\u{7F}", "a\u{301}"] {
      #expect(render(Self.claim("y", [], .latin1), of: try source(other: ["y": .text(text)])) == reason, "\(text)")
    }
  }

  @Test("A claim that is absent, or could end its line, leaves the whole header out")
  func omitted() throws {
    #expect(render(Self.text("a"), Self.claim("x"), of: try source()) == "the claim x is absent")
    #expect(render(Self.claim("x"), of: try source(other: ["x": .text("")])) == "the claim x is absent")
    #expect(render(Self.claim("email"), of: try source(verified: false)) == "the claim email is absent")
    for text in ["a\r\nB: c", "a\r", "a\n", "a\0b"] {
      for encoding in HeaderTemplate.Encoding.allCases {
        let claims = try source(other: ["x": .text(text)])
        #expect(render(Self.claim("x", [.lower], encoding), of: claims) == "the claim x contains a line break or NUL")
      }
    }
  }

  @Test("A value has no control character, whatever a claim contains")
  func property() throws {
    var random = SystemRandomNumberGenerator()
    var rendered = 0
    for _ in 0..<2_000 {
      let scalars = (0..<6).map { _ in
        Unicode.Scalar(UInt32.random(in: 0...0x250, using: &random)) ?? "?"
      }
      let claims = try source(other: ["x": .text(String(String.UnicodeScalarView(scalars)))])
      for encoding in HeaderTemplate.Encoding.allCases {
        var claim = HeaderTemplate.Claim("x")
        claim.encoding = encoding
        let value = try? HeaderTemplate(source: "", parts: [.claim(claim)]).render(claims, encoding: .percent)
        #expect(value?.contains { $0 < 0x20 || $0 == 0x7F } != true, "\(scalars)")
        if value != nil { rendered += 1 }
      }
    }
    #expect(rendered > 0)
  }

  // MARK: Basic

  private func basic(_ user: HeaderTemplate.Part, _ password: HeaderTemplate.Part, of claims: ClaimSource) -> String {
    do throws(HeaderOmissionError) {
      let template = BasicCredentialsTemplate(
        user: HeaderTemplate(source: "", parts: [user]), password: HeaderTemplate(source: "", parts: [password]))
      let value = String(decoding: try template.render(claims), as: UTF8.self)
      guard value.hasPrefix("Basic "), let data = Data(base64Encoded: String(value.dropFirst(6))) else { return value }
      return String(decoding: data, as: UTF8.self)
    } catch {
      return error.reason
    }
  }

  @Test("Basic credentials are user and password in base64, claims as UTF-8")
  func basicCredentials() throws {
    let claims = try source(other: ["x": .text("Jörg%:y")])
    #expect(basic(Self.claim("email"), Self.text("s3cret: ü"), of: claims) == "Ada.L@Example.com:s3cret: ü")
    #expect(basic(Self.text("svc"), Self.claim("x"), of: claims) == "svc:Jörg%:y")
  }

  @Test("A colon in the user, or a control character, leaves the credentials out")
  func basicOmitted() throws {
    let claims = try source(other: ["x": .text("a:b")])
    #expect(basic(Self.claim("x"), Self.text("p"), of: claims) == "the user contains a colon")
    #expect(basic(Self.text("a:b"), Self.text("p"), of: claims) == "the user contains a colon")
    #expect(basic(Self.claim("missing"), Self.text("p"), of: claims) == "the claim missing is absent")
    #expect(basic(Self.text("u"), Self.text("p\t"), of: claims) == "the credentials contain a control character")
  }

  // MARK: Headers of an upstream

  @Test("Each header that cannot be sent is reported, the others are sent; without a user those without claims")
  func upstream() throws {
    let settings = UpstreamHeaderSettings(
      upstream: "wiki",
      headers: [
        .init(name: "X-Env", value: HeaderTemplate(source: "prod", parts: [Self.text("prod")])),
        .init(name: "X-Name", value: HeaderTemplate(source: "{name}", parts: [Self.claim("name")])),
        .init(name: "X-None", value: HeaderTemplate(source: "{x}", parts: [Self.claim("x")])),
      ],
      basic: BasicCredentialsTemplate(
        user: HeaderTemplate(source: "{x}", parts: [Self.claim("x")]),
        password: HeaderTemplate(source: "p", parts: [Self.text("p")])))
    var omitted: [String] = []
    let fields = settings.render(try source(), encoding: .percent) { omitted.append("\($0): \($1.reason)") }
    #expect(fields.map(\.name) == ["X-Env", "X-Name"])
    #expect(omitted == ["X-None: the claim x is absent", "Authorization: the claim x is absent"])
    #expect(settings.anonymous.map(\.name) == ["X-Env"])
    #expect(settings.names == ["X-Env", "X-Name", "X-None", "Authorization"])
  }

  @Test("A template in the identity headers is rendered like one of an upstream")
  func identityHeader() throws {
    var settings = IdentityHeaderSettings()
    settings.headers = [
      .init(
        name: "X-User",
        template: HeaderTemplate(
          source: "{email|local:example.com|lower}",
          parts: [Self.claim("email", [.local(domain: "example.com"), .lower])])
      ),
      .init(name: "X-Sub", claim: "sub"),
    ]
    var claims = AccountClaims()
    claims.email = "Ada@example.com"
    claims.emailVerified = true
    var omitted: [String] = []
    func names(_ claims: AccountClaims) throws -> [String] {
      IdentityHeaders.render(account: try makeAccount(claims: claims), session: try makeSession(), settings: settings) {
        omitted.append("\($0): \($1.reason)")
      }.map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" }
    }
    #expect(try names(claims) == ["X-User=ada", "X-Sub=001234.ada.0987"] && omitted.isEmpty)
    claims.email = "admin@evil.example"
    #expect(try names(claims) == ["X-Sub=001234.ada.0987"])
    #expect(omitted == ["X-User: there is no verified address of example.com"])
  }

  @Test("The text of a template, which may be a password, is not printed")
  func secrecy() {
    let template = HeaderTemplate(source: "${PASSWORD}", parts: [Self.text("hunter2")])
    var dumped = ""
    dump(template, to: &dumped)
    #expect(!"\(template)".contains("hunter2") && !dumped.contains("hunter2"))
  }
}
