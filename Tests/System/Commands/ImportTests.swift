import Foundation
import Testing

// A configuration of oauth2-proxy becomes one of the gateway's.
//
// - What has the same meaning is translated, and cordon check finds nothing in the result.
// - Everything else is told, option by option with its line: what needs nothing, and what is left.
// - Patterns that mean more or less than the beginning of a path are never made public.
// - Whatever is printed passes cordon check.

@SystemActor
@Suite("cordon import")
struct ImportTests {
  private let folder: ImportFolder

  init() throws { folder = try ImportFolder() }

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

  @Test("Settings with a meaning here are translated, and the result is valid")
  func translated() throws {
    let made = try folder.translate(Self.ordinary)
    #expect(made.exit == .code(0))
    for line in [
      "public_url = \"https://shop.example.com\"", "path_prefix = \"/oauth2\"", "address = \"127.0.0.1:4180\"",
      "url = \"http://127.0.0.1:8080\"", "client_id = \"com.example.shop\"", "lifetime = \"7d\"", "access = true",
      "show_sign_in_page = false", "X-Auth-Request-Email = \"email\"", "scopes = [\"email\"]",
      "allow_email_domains = [\"example.com\", \"example.org\"]", "path = \"/public/\"", "path = \"/reports/\"",
      "path = \"/api/\"\nmethods = [\"GET\"]\naccess = \"public\"",
      "path = \"/health\"\nmatch = \"exact\"\naccess = \"public\"",
      "unauthenticated = \"401\"",
    ] { #expect(made.configuration.contains(line), "\(line)\n\(made.configuration)") }

    try folder.check(made.configuration)
  }

  // MARK: Other options

  @Test(
    "Each option is translated, or told with what there is instead, by its value",
    arguments: [
      ("pass_host_header = true", "pass_host_header: needs nothing", nil),
      ("pass_host_header = false", "pass_host_header: LEFT", nil),
      ("pass_user_headers = true", "pass_user_headers: needs nothing", nil),
      ("pass_user_headers = false", "pass_user_headers: LEFT", nil),
      ("proxy_websockets = true", "proxy_websockets: needs nothing", nil),
      ("proxy_websockets = false", "proxy_websockets: LEFT", nil),
      ("set_xauthrequest = true", "set_xauthrequest: LEFT", "X-Auth-Request-User = \"sub\""),
      ("set_xauthrequest = false", "set_xauthrequest: needs nothing", nil),
      ("standard_logging = false", "standard_logging: LEFT", nil),
      ("standard_logging = true", "standard_logging: needs nothing", nil),
      ("auth_logging = false", nil, "audit = false"), ("request_logging = false", nil, "access = false"),
      (
        "reverse_proxy = true\ntrusted_proxy_ips = [\"10.0.0.0/8\", \"192.0.2.1\", \"fd00::1\"]", nil,
        "trusted_proxies = [\"10.0.0.0/8\", \"192.0.2.1/32\", \"fd00::1/128\"]"
      ),
      ("reverse_proxy = true\ntrusted_proxy_ips = [\"proxy.example.com\"]", "trusted_proxy_ips: LEFT", nil),
      ("reverse_proxy = true\ntrusted_proxy_ips = [\"10.0.0.0/8\"]", "reverse_proxy: needs nothing", nil),
      ("reverse_proxy = true", "reverse_proxy: LEFT", nil),
      ("reverse_proxy = false", "reverse_proxy: needs nothing", nil),
      ("auth_request_response_mode = \"form_post\"", nil, "response_mode = \"form_post\""),
      ("skip_auth_preflight = true", "skip_auth_preflight: LEFT", "path = \"/\"\npreflight = \"pass\""),
      ("skip_auth_preflight = false", "skip_auth_preflight: needs nothing", nil),
      ("skip_provider_button = true", "skip_provider_button: LEFT", "show_sign_in_page = false"),
      ("skip_provider_button = false", nil, "show_sign_in_page = true"),
      ("cookie_samesite = \"lax\"", "cookie_samesite: needs nothing", nil),
      ("cookie_samesite = \"\"", "cookie_samesite: needs nothing", nil),
      ("cookie_samesite = \"strict\"", "cookie_samesite: LEFT: it is Lax: a link of another site", nil),
      ("cookie_samesite = \"none\"", "cookie_samesite: LEFT: it is Lax: in a frame", nil),
      ("tls_min_version = \"TLS1.2\"", "tls_min_version: needs nothing", nil),
      ("tls_min_version = \"TLS1.3\"", "tls_min_version: LEFT: TLS 1.2 is accepted, too", nil),
      ("alpha_config = \"alpha.yaml\"", "alpha_config: LEFT", "access = \"deny\""),
      (
        "real_client_ip_header = \"X-Real-IP\"",
        "real_client_ip_header: LEFT: it is X-Forwarded-For, from listen.trusted_proxies; Forwarded and X-Real-IP are "
          + "not read",
        nil
      ),
      ("auth_request_response_mode = \"pigeon\"", "auth_request_response_mode: LEFT", nil),
      ("redirect_url = \"https://a.example.com\"\nproxy_prefix = \"/login\"", nil, "path_prefix = \"/login\""),
      ("redirect_url = \"https://a.example.com\"", nil, "path_prefix = \"/oauth2\""),
      (
        "redirect_url = \"https://a.example.com/in/callback\"\nproxy_prefix = \"/login\"",
        "proxy_prefix: needs nothing",
        "path_prefix = \"/in\""
      ),
      ("proxy_prefix = \"/login\"", nil, "path_prefix = \"/login\""),
      ("proxy_prefix = \"/a b\"", "proxy_prefix: LEFT", nil),
      ("redirect_url = \"http://a.example.com/oauth2/callback\"", "redirect_url: LEFT", nil),
      ("http_address = \"localhost:4180\"", nil, "address = \"127.0.0.1:4180\""),
      ("https_address = \":443\"", "https_address: needs nothing", nil),
      (
        "http_address = \"unix:///run/proxy.sock,mode=0660\"", "http_address: LEFT: listen.address is",
        "address = \"127.0.0.1:4180\""
      ),
      ("http_address = \"proxy.example.com:4180\"", "http_address: LEFT", nil),
      (
        "upstreams = [\"http://u:p@127.0.0.1:1/\", \"http://127.0.0.1:1/a%20b/\", \"http://127.0.0.1:1/../x/\"]",
        "upstreams: LEFT", nil
      ),
      (
        "upstreams = [\"static://202\"]", "upstreams: LEFT: a fixed answer: static://202; if",
        "url = \"http://127.0.0.1:9\""
      ),
      (
        "upstreams = [\"http://127.0.0.1:1/a/\", \"http://127.0.0.1:2/a/\"]\napi_routes = [\"^/a/\"]",
        "upstreams: LEFT", "unauthenticated = \"401\""
      ),
    ] as [(String, String?, String?)])
  func options(option: String, note: String?, line: String?) throws {
    let made = try folder.translate("\(option)\nemail_domains = [\"*\"]\n")
    if let note { #expect(made.notes.contains(note), "\(made.notes)") }
    if let line { #expect(made.configuration.contains(line), "\(made.configuration)") }
    #expect(!made.notes.contains("does not know"))
    try folder.check(made.configuration)
  }

  @Test("Settings without a meaning here are reported with their line, and no secret is printed")
  func told() throws {
    let made = try folder.translate(Self.ordinary)
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
    arguments: [
      "/public", "GET!=^/public/", "get=^/public/", "^/health", "^/he?lth$", "^/(a|b)/", "^/a.+c/", "!=^/x/", "^/",
      "^/public", "^/%2e%2e/", "^/$", "^//x$", "^/.$", "^/./", "^/../x/", "^/x/..*", #"^/\.\./x/"#, #"^/a\d/"#,
      #"^/a/\.*"#, #"^/a\$"#, "^/robots.txt", "^/a//b/",
    ])
  func patterns(pattern: String) throws {
    let made = try folder.translate("skip_auth_routes = ['\(pattern)']\n")
    #expect(made.exit == .code(0))
    #expect(!made.configuration.contains("\"public\""), "\(made.configuration)")
    #expect(made.notes.contains("skip_auth_routes: LEFT"))
  }

  @Test(
    "A dot in a pattern that is literal otherwise is taken for a dot, with a note unless it is escaped",
    arguments: [
      ("^/robots.txt$", "path = \"/robots.txt\"\nmatch = \"exact\"\naccess = \"public\"", true),
      (#"^/robots\.txt$"#, "path = \"/robots.txt\"\nmatch = \"exact\"\naccess = \"public\"", false),
      ("^/.well-known/", "path = \"/.well-known/\"\naccess = \"public\"", true),
      (#"^/\.well\-known\/.*"#, "path = \"/.well-known/\"\naccess = \"public\"", false),
      ("GET=^/a.c/", "path = \"/a.c/\"\nmethods = [\"GET\"]\naccess = \"public\"", true),
    ])
  func dots(pattern: String, route: String, isNarrower: Bool) throws {
    let made = try folder.translate("email_domains = [\"*\"]\nskip_auth_routes = ['\(pattern)']\n")
    #expect(made.configuration.contains(route), "\(made.configuration)")
    #expect(made.notes.contains("skip_auth_routes: LEFT: each dot is taken for a dot") == isNarrower, "\(made.notes)")
    #expect(made.notes.contains("skip_auth_routes: LEFT") == isNarrower)
    try folder.check(made.configuration)
  }

  @Test("Every option of oauth2-proxy that the page about migrating names is known")
  func documented() throws {
    let page = try String(
      contentsOf: Machine.packageRoot.appending(path: "Documentation/MIGRATING.md"), encoding: .utf8)
    let section = page.components(separatedBy: "## From Pomerium")[0].components(separatedBy: "### ")
      .dropFirst().joined()
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
    let names = Set(
      rows.flatMap { $0.split(separator: "|")[0].matches(of: /`([a-z_]+)`/).map { String($0.1) } }
    ).subtracting(["cookie", "redis"])
    #expect(names.count > 90)
    let made = try folder.translate(names.sorted().map { "\($0) = \"x\"" }.joined(separator: "\n") + "\n")
    #expect(made.exit == .code(0))
    #expect(!made.notes.contains("does not know"), "\(made.notes)")
  }

  @Test(
    "Sessions last as long as with oauth2-proxy, whose default is a week, or half a day if that is not possible",
    arguments: [
      ("", "# oauth2-proxy's default\nlifetime = \"7d\""), ("cookie_expire = \"36h\"", "lifetime = \"36h\""),
      ("cookie_expire = \"1.5h\"", "lifetime = \"90m\""), ("cookie_expire = \"1h0.25m\"", "lifetime = \"3615s\""),
      ("cookie_expire = \"0\"", replaced), ("cookie_expire = 0", replaced), ("cookie_expire = \"1.h5\"", replaced),
      ("cookie_expire = \"0.0000000000000000000001h\"", replaced), ("cookie_expire = \"1.5.5h\"", replaced),
      ("cookie_expire = \"500ms\"", replaced), ("cookie_expire = \"12000h\"", replaced),
    ])
  func lifetime(option: String, line: String) throws {
    let made = try folder.translate("email_domains = [\"*\"]\n\(option)\n")
    #expect(made.configuration.contains("\(line)\n"), "\(made.configuration)")
    #expect(made.notes.contains("cookie_expire: LEFT") == (line == Self.replaced), "\(made.notes)")
    try folder.check(made.configuration)
  }

  private nonisolated static let replaced =
    "# cookie_expire was not translated: put your own here\nlifetime = \"12h\""

  @Test("The access log is written, as oauth2-proxy does, unless it was switched off")
  func accessLog() throws {
    let usual = try folder.translate("email_domains = [\"*\"]\n")
    #expect(usual.configuration.contains("[log]\n# oauth2-proxy's default\naccess = true"), "\(usual.configuration)")
    try folder.check(usual.configuration)
    let off = try folder.translate("email_domains = [\"*\"]\nrequest_logging = false\n")
    #expect(off.configuration.contains("[log]\naccess = false"), "\(off.configuration)")
  }

  @Test("The password in the URL of an upstream is not shown, and the note says where it belongs")
  func passwords() throws {
    let made = try folder.translate(
      "redirect_url = \"https://u:s3cr3t@app.example.com/oauth2/callback\"\nemail_domains = [\"*\"]\n"
        + "upstreams = [\"http://u:s3cr3t@h:7/d/\", \"http://v:s3cr3t@h:8/\", \"ftp://w:s3cr3t@h/\"]\n")
    #expect(!made.notes.contains("s3cr3t"), "\(made.notes)")
    #expect(!made.configuration.contains("s3cr3t"), "\(made.configuration)")
    #expect(made.notes.contains("user and password are not part of public_url"), "\(made.notes)")
    #expect(
      made.notes.contains("user and password are not part of a URL here: http://h:7/d/, http://h:8/; write"),
      "\(made.notes)")
    #expect(made.notes.contains("not an application that listens: ftp://h/; a web server"), "\(made.notes)")
  }

  @Test("The password in the address of a listener is not shown")
  func passwordOfListener() throws {
    let made = try folder.translate("http_address = \"http://u:s3cr3t@127.0.0.1:4180\"\nemail_domains = [\"*\"]\n")
    #expect(!made.notes.contains("s3cr3t") && !made.configuration.contains("s3cr3t"), "\(made)")
    #expect(made.notes.contains("http_address: LEFT: listen.address is an address and a port"), "\(made.notes)")
  }

  @Test("Proxies that oauth2-proxy did not trust are not trusted here", arguments: ["", "reverse_proxy = false\n"])
  func proxiesNotTrusted(option: String) throws {
    let made = try folder.translate("email_domains = [\"*\"]\n\(option)trusted_proxy_ips = [\"10.0.0.0/8\"]\n")
    #expect(!made.configuration.contains("trusted_proxies"), "\(made.configuration)")
    #expect(made.notes.contains("trusted_proxy_ips: LEFT: without reverse_proxy it has no effect"), "\(made.notes)")
    #expect(!made.notes.contains("covered by trusted_proxy_ips"), "\(made.notes)")
  }

  @Test("Of two upstreams for all paths the first is used, and the other is named")
  func repeatedRoot() throws {
    let made = try folder.translate(
      "email_domains = [\"*\"]\nupstreams = [\"http://127.0.0.1:7/\", \"http://127.0.0.1:8/\"]\n")
    #expect(made.configuration.contains("url = \"http://127.0.0.1:7\""), "\(made.configuration)")
    #expect(!made.configuration.contains(":8"), "\(made.configuration)")
    let note = "another upstream has this path: http://127.0.0.1:8/; keep one of them"
    #expect(made.notes.contains(note), "\(made.notes)")
  }

  @Test("An upstream whose path has no final slash is for this path only, and the note says so")
  func exactUpstream() throws {
    let made = try folder.translate(
      "email_domains = [\"*\"]\nskip_auth_routes = [\"^/api$\"]\nupstreams = [\"http://127.0.0.1:7/\", "
        + "\"http://127.0.0.1:8/api\", \"http://127.0.0.1:9/api/\"]\n")
    let exact = "path = \"/api\"\nmatch = \"exact\"\naccess = \"public\"\nupstream = \"upstream-2\""
    #expect(made.configuration.contains(exact), "\(made.configuration)")
    #expect(made.configuration.contains("path = \"/api/\"\nupstream = \"upstream-3\""), "\(made.configuration)")
    #expect(
      made.notes.contains(
        "upstreams: LEFT: this path only, and nothing below it, as in oauth2-proxy: http://127.0.0.1:8/api; remove"),
      "\(made.notes)")
    try folder.check(made.configuration)
  }

  @Test("Each value that was made up is left to do under its key, and its comment is in the file")
  func examples() throws {
    func translate(_ arguments: String) throws -> (configuration: String, notes: String) {
      let made = try folder.run(["--args", arguments])
      return (made.standardOutput, made.standardError)
    }
    func isLeft(_ key: String, in made: (configuration: String, notes: String)) -> Bool {
      let name = key.split(separator: ".").last ?? ""
      let isCommented = made.configuration.contains("# an example: put your own here\n\(name) = ")
      let isNoted = made.notes.split(separator: "\n").contains { $0.hasPrefix("\(key): LEFT: ") }
      return isCommented && isNoted
    }
    let apple = ["apple.team_id", "apple.key_id", "apple.private_key_file"]
    let bare = try translate("--provider=oidc --email-domain=example.com")
    for key in ["public_url", "listen.address", "upstream.url", "apple.client_id"] + apple {
      #expect(isLeft(key, in: bare), "\(key): \(bare)")
    }
    #expect(bare.notes.contains("provider: LEFT: without oidc_issuer_url"), "\(bare.notes)")
    #expect(bare.notes.contains("1 translated, 0 unneeded, 8 left for you."), "\(bare.notes)")

    let named = try translate(
      "--provider=oidc --oidc-issuer-url=https://appleid.apple.com/ --client-id=com.example.web --email-domain=* "
        + "--redirect-url=https://a.example.com --http-address=:80 --upstream=http://127.0.0.1:3000")
    for key in apple { #expect(isLeft(key, in: named), "\(key): \(named)") }
    #expect(named.notes.contains("provider: needs nothing: it is Apple"), "\(named.notes)")
    #expect(named.notes.contains(" 3 left for you."), "\(named.notes)")
  }
}
