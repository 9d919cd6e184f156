import Foundation
import Testing

// A configuration of oauth2-proxy becomes one of the gateway's.
//
// - What has the same meaning is translated, and cordon check finds nothing in the result.
// - Everything else is told, option by option with its line: what needs nothing, and what is left.
// - Patterns that mean more or less than the beginning of a path are never made public.

@SystemActor
@Suite("cordon import")
struct ImportTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func translate(_ text: String) throws -> (exit: ServerProcess.Exit, configuration: String, notes: String) {
    try directory.write(text, to: "oauth2-proxy.cfg")
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["import", "oauth2-proxy.cfg"], directory: directory.path)
    return (result.exit, result.standardOutput, result.standardError)
  }

  private static let ordinary = #"""
    provider = "oidc"
    oidc_issuer_url = "https://appleid.apple.com"
    client_id = "com.example.shop"
    client_secret = "eyJhbGciOiJFUzI1NiJ9.secret"
    redirect_url = "https://shop.example.com/oauth2/callback"
    http_address = "http://127.0.0.1:4180"
    upstreams = ["http://127.0.0.1:8080/", "http://127.0.0.1:8081/reports/", "file:///var/www/#/files/"]
    email_domains = ["example.com", "example.org"]
    cookie_secret = "c2VjcmV0"
    cookie_expire = "168h0m0s"
    cookie_secure = true
    skip_auth_routes = ["^/public/", "GET=^/api/", "^/health$"]
    api_routes = ["^/api/"]
    skip_provider_button = true
    request_logging = true
    reverse_proxy = true
    set_xauthrequest = true
    scope = "openid email"
    no_such_option = 1
    """#

  @Test("What has a meaning here is translated, and the result is in order")
  func translated() throws {
    let made = try translate(Self.ordinary)
    #expect(made.exit == .code(0))
    for line in [
      "public_url = \"https://shop.example.com\"", "path_prefix = \"/oauth2\"", "address = \"127.0.0.1:4180\"",
      "url = \"http://127.0.0.1:8080\"", "client_id = \"com.example.shop\"", "lifetime = \"7d\"", "access = true",
      "show_sign_in_page = false", "X-Auth-Request-Email = \"email\"", "scopes = [\"email\"]",
      "allow_email_domains = [\"example.com\", \"example.org\"]", "path = \"/public/\"", "path = \"/reports/\"",
      "unauthenticated = \"401\"",
    ] { #expect(made.configuration.contains(line), "\(line)\n\(made.configuration)") }

    try directory.write(made.configuration, to: "gateway.conf")
    try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey_ABC123DEFG.p8")
    try directory.write(GatewayConfiguration.sessionSecret, to: "session.key")
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", "gateway.conf"], directory: directory.path)
    #expect(check.exit == .code(0), "\(check.standardOutput)\n\(made.configuration)")
  }

  @Test("What has none is told with its line, and no secret is printed")
  func told() throws {
    let made = try translate(Self.ordinary)
    #expect(made.notes.contains("oauth2-proxy.cfg:4: client_secret: needs nothing"))
    #expect(made.notes.contains("oauth2-proxy.cfg:9: cookie_secret: LEFT"))
    #expect(made.notes.contains("oauth2-proxy.cfg:16: reverse_proxy: LEFT"))
    #expect(made.notes.contains("oauth2-proxy.cfg:19: no_such_option: LEFT: this translation does not know it"))
    #expect(made.notes.contains("file:///var/www/#/files/"))
    #expect(made.notes.contains("left for you"))
    #expect(!(made.notes + made.configuration).contains("c2VjcmV0"))
    #expect(!(made.notes + made.configuration).contains(".secret"))
  }

  @Test(
    "A pattern that is not the beginning of a path is not made public",
    arguments: ["/public", "GET=^/public/", "^/health$", "^/(a|b)/", "^/a.c/", "!=^/x/", "^/", "^/public", "^/%2e%2e/"])
  func patterns(pattern: String) throws {
    let made = try translate("skip_auth_routes = ['\(pattern)']\n")
    #expect(made.exit == .code(0))
    #expect(!made.configuration.contains("[[route]]"), "\(made.configuration)")
    #expect(made.notes.contains("skip_auth_routes: LEFT"))
  }

  @Test("Every option of oauth2-proxy that the page about migrating names is known")
  func documented() throws {
    let page = try String(
      contentsOf: Machine.packageRoot.appending(path: "Documentation/MIGRATING.md"), encoding: .utf8)
    let section = page.components(separatedBy: "## From mod_auth_openidc")[0].components(separatedBy: "### What is")
      .dropFirst().joined()
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
    let names = Set(
      rows.flatMap { $0.split(separator: "|")[0].matches(of: /`([a-z_]+)`/).map { String($0.1) } }
    ).subtracting(["cookie", "redis"])
    #expect(names.count > 90)
    let made = try translate(names.sorted().map { "\($0) = \"x\"" }.joined(separator: "\n") + "\n")
    #expect(made.exit == .code(0))
    #expect(!made.notes.contains("does not know"), "\(made.notes)")
  }

  @Test("The whole domain list lets nobody through where there is another rule for everybody")
  func everybody() throws {
    let made = try translate("email_domains = [\"*\"]\n")
    #expect(!made.configuration.contains("[[route]]"))
    #expect(made.notes.contains("email_domains: needs nothing"))
  }

  @Test("A file that is no TOML is refused with its place, and an existing file is not overwritten")
  func refusals() throws {
    let refused = try translate("upstreams = [\n")
    #expect(refused.exit == .code(65))
    #expect(refused.configuration.isEmpty)
    #expect(refused.notes.contains("oauth2-proxy.cfg:"))

    try directory.write("mine", to: "gateway.conf")
    try directory.write("", to: "oauth2-proxy.cfg")
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["import", "oauth2-proxy.cfg", "--output", "gateway.conf"], directory: directory.path)
    #expect(result.exit == .code(73))
    #expect(try String(contentsOfFile: "\(directory.path)/gateway.conf", encoding: .utf8) == "mine")
  }
}
