import AccessPolicy
import FoundationEssentials
import HTTPTypes
import Logging
import Secrets
import Sessions
import Synchronization
import Testing

@testable import DataPlane
@testable import Gateway

// Headers of single upstreams, as the gate hands them to the data plane: replaced identity headers, Basic, requests
// without a user, changes of claims, groups and configuration, verify, and the log.

@Suite("Headers of single upstreams, at the gate")
struct UpstreamIdentityTests {
  private static func template(_ parts: HeaderTemplate.Part...) -> HeaderTemplate {
    HeaderTemplate(source: "", parts: parts)
  }

  private static func claim(_ name: String, _ filters: [HeaderTemplate.Filter] = []) -> HeaderTemplate.Part {
    var claim = HeaderTemplate.Claim(name)
    claim.filters = filters
    return .claim(claim)
  }

  private static func text(_ text: String) -> HeaderTemplate.Part { .text(TemplateText(text)) }

  /// The application at `/wiki/`, and publicly at `/wiki/open/`, has headers of its own.
  private static func settings(
    env: String = "prod", _ change: (inout GatewaySettings) -> Void = { _ in }
  ) throws -> GatewaySettings {
    var wiki = RouteSettings(path: "/wiki/")
    wiki.upstream = "wiki"
    var open = RouteSettings(path: "/wiki/open/", access: .public)
    open.upstream = "wiki"
    var settings = try GatewaySettings.forTests(routes: [
      wiki, open, RouteSettings(path: "/open/", access: .public),
    ])
    settings.routing.groups = [GroupConfiguration(name: "staff", members: ["001.anna"])]
    settings.identity.headers = [
      .init(name: "X-User", claim: "sub"), .init(name: "X-Mail", claim: "email"),
      .init(name: "X-Groups", claim: "groups"),
    ]
    settings.identity.upstreams = [
      UpstreamHeaderSettings(
        upstream: "wiki",
        headers: [
          .init(name: "x_mail", value: template(claim("email", [.local(domain: "example.com"), .lower]))),
          .init(name: "X-Env", value: template(text(env))),
        ], basic: BasicCredentialsTemplate(user: template(claim("sub")), password: template(text("p"))))
    ]
    change(&settings)
    return settings
  }

  private static var claims: AccountClaims {
    var claims = AccountClaims()
    (claims.email, claims.emailVerified) = ("Anna@Example.com", true)
    return claims
  }

  private func ask(_ rig: GateRig, _ target: String, _ cookie: String? = nil) async throws -> String? {
    try await rig.decide(Asked(target: target, fields: cookie.map { ["Cookie: \($0)"] } ?? [])).identity
  }

  @Test("An upstream gets its own headers, which replace identity headers in any spelling; others get the usual ones")
  func signedIn() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna", claims: Self.claims)
    let usual = "X-User: 001.anna\r\nX-Mail: Anna@Example.com\r\nX-Groups: staff\r\n"
    // base64("001.anna:p")
    let own =
      "X-User: 001.anna\r\nX-Groups: staff\r\nx_mail: anna\r\nX-Env: prod\r\n"
      + "Authorization: Basic MDAxLmFubmE6cA==\r\n"
    for _ in 0..<2 {
      #expect(try await ask(rig, "/x", anna) == usual)
      #expect(try await ask(rig, "/wiki/x", anna) == own)
      #expect(try await ask(rig, "/wiki/open/x", anna) == own)
    }
    try await rig.stop()
  }

  @Test("Without a user, headers that use no claim are sent, and no credentials")
  func nobody() async throws {
    let rig = try await GateRig(try Self.settings())
    #expect(try await ask(rig, "/wiki/open/x") == "X-Env: prod\r\n")
    #expect(try await ask(rig, "/open/x") == "")
    try await rig.stop()
  }

  @Test("A change of claims, of groups or of the configuration is in the next request")
  func changes() async throws {
    let rig = try await GateRig(try Self.settings())
    let (anna, cookie) = try rig.signIn("001.anna", claims: Self.claims)
    #expect(try await ask(rig, "/wiki/x", cookie)?.contains("x_mail: anna\r\n") == true)
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.claims.email = "new@example.com" }
    await rig.sessions.markStale(anna.account.subject)
    #expect(try await ask(rig, "/wiki/x", cookie)?.contains("x_mail: new\r\n") == true)
    try await rig.apply(GroupDirectory([GroupSettings(name: "staff", members: [])]))
    #expect(try await ask(rig, "/wiki/x", cookie)?.contains("X-Groups") == false)
    try await rig.apply(try Self.settings(env: "test"))
    #expect(try await ask(rig, "/wiki/x", cookie)?.contains("X-Env: test\r\n") == true)
    try await rig.apply(try Self.settings { $0.identity.upstreams = [] })
    #expect(try await ask(rig, "/wiki/x", cookie)?.contains("X-Env") == false)
    try await rig.stop()
  }

  @Test("More upstreams than are kept for a session each get theirs")
  func manyUpstreams() async throws {
    var routes: [RouteSettings] = []
    for number in 0..<12 {
      var route = RouteSettings(path: "/\(number)/")
      route.upstream = "u\(number)"
      routes.append(route)
    }
    var settings = try GatewaySettings.forTests(routes: routes)
    settings.identity.upstreams = (0..<12).map { number in
      UpstreamHeaderSettings(
        upstream: "u\(number)",
        headers: [.init(name: "X-Number", value: Self.template(Self.text("\(number) "), Self.claim("sub")))])
    }
    let rig = try await GateRig(settings)
    let (_, anna) = try rig.signIn("001.anna")
    for number in (0..<12).map({ $0 }) + [11, 3, 0] {
      #expect(try await ask(rig, "/\(number)/x", anna)?.hasSuffix("X-Number: \(number) 001.anna\r\n") == true)
    }
    try await rig.stop()
  }

  @Test("verify answers identity headers only")
  func verify() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna", claims: Self.claims)
    let answer = try await rig.answer(
      Asked(
        target: "/.auth/verify", fields: ["Cookie: \(anna)", "X-Original-URI: /wiki/x"], isFromProxy: true))
    let names = answer.headerFields.map(\.name.canonicalName)
    #expect(answer.status == .ok && names.contains("x-mail") && names.contains("x-user"))
    #expect(!names.contains("x-env") && !names.contains("authorization") && !names.contains("x_mail"))
    #expect(answer.headerFields.first { $0.name.canonicalName == "x-mail" }?.value == "Anna@Example.com")
    try await rig.stop()
  }

  @Test("A header that is left out is logged once for each header, upstream and reason")
  func logged() {
    let lines = RecordedLines()
    let logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["header", "upstream", "reason"]) }
    let omissions = HeaderOmissions(logger)
    for _ in 0..<3 {
      omissions.note("X-User", of: "wiki", .absent(claim: "name"))
      omissions.note("X-User", of: "other", .absent(claim: "name"))
      omissions.note("X-User", of: nil, .colonInUser)
    }
    #expect(
      lines.take() == [
        "header left out of requests to the application X-User wiki the claim name is absent",
        "header left out of requests to the application X-User other the claim name is absent",
        "header left out of requests to the application X-User - the user contains a colon",
      ])
  }
}
