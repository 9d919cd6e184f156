import Foundation
import TemporaryDirectoryTesting
import Testing

// Access to what oauth2-proxy protected, after an import.
//
// - Whom oauth2-proxy kept out is kept out on every path; what cannot be translated closes everything, and so does an
//   option that nobody here knows.
// - Whatever is printed passes cordon check.

@SystemActor
@Suite("Access after cordon import")
struct ImportAccessTests {
  private let folder: ImportFolder

  init() throws { folder = try ImportFolder() }

  private static let apple = "provider = \"oidc\"\noidc_issuer_url = \"https://appleid.apple.com\"\n"
  /// The response of a path that is denied to everybody.
  private static let closed = "access = \"deny\""

  @Test(
    "Domains and addresses hold for every path",
    arguments: [
      (
        "email_domains = [\"Example.com\", \"example.org\"]", "allow_email_domains = [\"example.com\", \"example.org\"]"
      ),
      ("email_domains = \"example.com, example.org\"", "allow_email_domains = [\"example.com\", \"example.org\"]"),
      (
        "email_domains = [\".example.com\", \"*.example.net\", \"example.org\"]",
        "allow_email_domains = [\"example.org\"]"
      ),
      ("authenticated_emails_file = \"emails.txt\"", "allow_emails = [\"ada@example.com\", \"ben@example.org\"]"),
      (
        "authenticated_emails_file = \"emails.txt\"\nemail_domains = [\"example.net\"]",
        "allow_email_domains = [\"example.net\"]"
      ),
    ])
  func lists(option: String, line: String) throws {
    try folder.directory.write(
      "# people\nAda@Example.com\n\"ben@example.org\",x\n\n*\n@example.com\nben@example.org\n", to: "emails.txt")
    let made = try folder.translate(
      Self.apple + option + "\napi_routes = [\"^/api/\"]\nskip_auth_routes = [\"^/public/\", \"^/reports/\"]\n"
        + "upstreams = [\"http://127.0.0.1:1/\", \"http://127.0.0.1:2/reports/\"]\n")
    let access = try #require(made.configuration.components(separatedBy: "[access]").dropFirst().first)
    #expect(access.components(separatedBy: "\n[")[0].contains(line), "\(made.configuration)")
    #expect(!made.configuration.contains(Self.closed), "\(made.configuration)")
    // No route but those that were open states who may pass.
    #expect(made.configuration.components(separatedBy: "access = \"public\"").count == 3, "\(made.configuration)")
    #expect(!made.configuration.contains("signed-in"))
    if option.contains("*.") { #expect(made.notes.contains("email_domains: LEFT")) }
    try folder.check(made.configuration)
  }

  @Test("A file with one address on each line becomes a group whose members are watched")
  func membersFile() throws {
    try folder.directory.write("# people\nAda@Example.com\n\n  ben@example.org \n", to: "emails.txt")
    let made = try folder.translate(
      Self.apple + "authenticated_emails_file = \"emails.txt\"\nemail_domains = [\"example.net\"]\n")
    #expect(made.configuration.contains("allow_groups = [\"members\"]"), "\(made.configuration)")
    #expect(made.configuration.contains("name = \"members\"\nmembers_file = \"emails.txt\""), "\(made.configuration)")
    #expect(made.configuration.contains("allow_email_domains = [\"example.net\"]"))
    #expect(!made.configuration.contains("allow_emails") && !made.configuration.contains(Self.closed))
    try folder.check(made.configuration)
    // To oauth2-proxy these lines are not addresses; here they would admit more.
    for line in ["@example.com", "001234.abc.5678", "*@example.com", "ada@example.com # Ada"] {
      try folder.directory.write("ben@example.org\n\(line)\n", to: "emails.txt")
      let careful = try folder.translate(Self.apple + "authenticated_emails_file = \"emails.txt\"\n")
      #expect(!careful.configuration.contains("members_file"), "\(line)\n\(careful.configuration)")
      try folder.check(careful.configuration)
    }
  }

  @Test(
    "A setting that cannot be translated restricts all routes that were not public, and the result says why",
    arguments: [
      "", "email_domains = []", "email_domains = \"\"", "email_domains = 7", "email_domains = [\".example.com\"]",
      "email_domains = [\"privaterelay.appleid.com\"]", "authenticated_emails_file = \"missing.txt\"",
      "authenticated_emails_file = \"empty.txt\"",
      "authenticated_emails_file = \"missing.txt\"\nemail_domains = [\"example.com\"]",
      "email_domains = [\"*\"]\nallowed_groups = [\"staff\"]",
      "email_domains = [\"example.com\"]\nallowed_roles = \"admin\"",
      "email_domains = [\"*\"]\ngithub_org = \"us\"", "email_domains = [\"*\"]\ngoogle_groups = [\"a@example.com\"]",
      "email_domains = [\"*\"]\nazure_tenant = \"6a2f\"", "email_domains = [\"*\"]\nkeycloak_group = \"x\"",
      "email_domains = [\"*\"]\nsome_future_allowed_things = \"x\"",
      "email_domains = [\"*\"]\ngithub_future_members = \"x\"",
      "email_domains = [\"example.com\"]\n\"an option\\nwith two lines\" = false",
    ])
  func closed(option: String) throws {
    try folder.directory.write("# nobody\n", to: "empty.txt")
    let made = try folder.translate(Self.apple + option + "\nskip_auth_routes = [\"^/public/\"]\n")
    #expect(made.configuration.contains("path = \"/\"\n\(Self.closed)"), "\(made.configuration)")
    #expect(made.configuration.contains("# Closed by cordon import"), "\(made.configuration)")
    try folder.check(made.configuration)
  }

  @Test(
    "A group that was required besides a domain is to be written in the place of the domain, not beside it",
    arguments: [
      "google_groups = [\"a@example.com\"]", "allowed_roles = \"admin\"", "some_future_allowed_things = \"x\"",
    ])
  func both(option: String) throws {
    let warning = "the lists of [access] are alternatives: where another restriction had to be met as well,\n"
    let made = try folder.translate(Self.apple + "email_domains = [\"example.com\"]\n\(option)\n")
    #expect(
      made.configuration.contains(
        "[access]\n# \(warning)#   write one list in their place, not beside them\nallow_email_domains"),
      "\(made.configuration)")
    #expect(made.configuration.contains("# - \(warning)"), "\(made.configuration)")
    #expect(made.configuration.contains(Self.closed), "\(made.configuration)")
    try folder.check(made.configuration)
    // Where everybody could pass there is nothing to replace.
    let everybody = try folder.translate(Self.apple + "email_domains = [\"*\"]\n\(option)\n")
    #expect(!everybody.configuration.contains("alternatives"), "\(everybody.configuration)")
  }

  @Test("The comment names each option that the import does not know, next to the other reasons")
  func unknown() throws {
    let made = try folder.translate(Self.apple + "email_domains = [\"*\"]\nsome_future_allowed_things = \"x\"\n")
    #expect(
      made.configuration.contains("# - some_future_allowed_things is not known to the import"), "\(made.configuration)")
    #expect(
      made.notes.contains("oauth2-proxy.cfg:4: some_future_allowed_things: LEFT: this translation does not know it"),
      "\(made.notes)")
    // Whoever finds the option harmless still learns that nobody was named.
    let unnamed = try folder.translate(Self.apple + "some_future_option = 1\n")
    #expect(unnamed.configuration.contains("# - the file names no email_domains"), "\(unnamed.configuration)")
    #expect(unnamed.configuration.contains("# - some_future_option is not known"), "\(unnamed.configuration)")
    // What is known and keeps nobody out closes nothing.
    let harmless = try folder.translate(
      Self.apple + "email_domains = [\"*\"]\ngithub_token = \"x\"\nlogging_max_age = 7\nredis_password = \"x\"\n")
    #expect(!harmless.configuration.contains(Self.closed), "\(harmless.configuration)")
  }

  @Test("Options of oauth2-proxy 7.15 that keep nobody out close nothing, in a file and as arguments")
  func optionsOf7Dot15() throws {
    let file = try folder.translate(
      Self.apple + """
        email_domains = ["*"]
        cookie_csrf_samesite = "none"
        oidc_enabled_signing_algs = ["RS256"]
        google_admin_api_user_scope = "user"

        """)
    #expect(!file.configuration.contains(Self.closed), "\(file.configuration)")
    for option in ["cookie_csrf_samesite", "oidc_enabled_signing_algs", "google_admin_api_user_scope"] {
      #expect(file.notes.contains("\(option): needs nothing"), "\(option)\n\(file.notes)")
    }
    // A switch has no value: the word after it is an option of its own.
    let arguments = try folder.run([
      "--args",
      "--config-test --convert-config-to-alpha --version --oidc-enabled-signing-alg=RS256 "
        + "--oidc-enabled-signing-alg ES256 --cookie-csrf-samesite=lax --email-domain=*",
    ])
    #expect(arguments.exit == .code(0), "\(arguments)")
    #expect(!arguments.standardOutput.contains(Self.closed), "\(arguments.standardOutput)")
    for option in ["config_test", "convert_config_to_alpha", "version", "oidc_enabled_signing_algs"] {
      #expect(arguments.standardError.contains("\(option): needs nothing"), "\(option)\n\(arguments.standardError)")
    }
    #expect(arguments.standardError.contains("email_domains: needs nothing"), "\(arguments.standardError)")
  }

  @Test("Everybody of a company's provider is not everybody with an Apple Account")
  func providers() throws {
    for (provider, isClosed) in [
      ("provider = \"oidc\"\noidc_issuer_url = \"https://id.example.com\"", true),
      ("provider = \"keycloak-oidc\"", true),
      // Built-in endpoints were replaced by those of an instance of one's own.
      ("provider = \"github\"\nlogin_url = \"https://ghe.corp.example/login/oauth/authorize\"", true),
      ("provider = \"gitlab\"\nredeem_url = \"https://git.corp.example/oauth/token\"", true),
      ("provider = \"google\"\nvalidate_url = \"https://id.corp.example/validate\"", true),
      ("profile_url = \"https://id.corp.example/me\"", true), ("login_url = 7", true),
      (Self.apple + "login_url = \"https://id.corp.example/authorize\"", true),
      ("provider = \"github\"\nlogin_url = \"\"", false),
      (Self.apple + "login_url = \"https://appleid.apple.com/auth/authorize\"", false),
      ("provider = \"google\"", false), ("", false), ("provider = \"apple\"", false), (Self.apple, false),
    ] {
      let made = try folder.translate("\(provider)\nemail_domains = [\"*\"]\n")
      #expect(made.configuration.contains(Self.closed) == isClosed, "\(provider)\n\(made.configuration)")
      try folder.check(made.configuration)
    }
  }

  @Test("A file that oauth2-proxy reads and the import does not may restrict access, so everything is denied")
  func otherFile() throws {
    let apple = "--provider=oidc --oidc-issuer-url=https://appleid.apple.com --email-domain=*"
    try folder.directory.write("OAUTH2_PROXY_CONFIG=/etc/oauth2-proxy.cfg\n", to: "proxy.env")
    try folder.directory.write("allowed_groups = [\"staff\"]\n", to: "oauth2-proxy.cfg")
    for arguments in [
      ["--args", "--config=/etc/oauth2-proxy.cfg \(apple)"], ["--env", "proxy.env", "--args", apple],
    ] {
      let made = try folder.run(arguments)
      #expect(made.exit == .code(0))
      #expect(made.standardOutput.contains("path = \"/\"\n\(Self.closed)"), "\(made.standardOutput)")
      #expect(made.standardOutput.contains("# - config names oauth2-proxy's file"), "\(made.standardOutput)")
      #expect(made.standardError.contains("run cordon import FILE with that file"), "\(made.standardError)")
      try folder.check(made.standardOutput)
      // With the file, its own settings decide.
      let whole = try folder.run(["oauth2-proxy.cfg"] + arguments)
      #expect(!whole.standardOutput.contains("config names"), "\(whole.standardOutput)")
      #expect(whole.standardOutput.contains("allowed_groups restricted access"), "\(whole.standardOutput)")
    }
    for none in ["--config=", "--alpha-config="] {
      let made = try folder.run(["--args", "\(none) \(apple)"])
      #expect(!made.standardOutput.contains(Self.closed), "\(made.standardOutput)")
    }
  }

  @Test("Of two lines for one variable only the last admits users, and a misspelled variable admits nobody")
  func environmentLines() throws {
    try folder.directory.write(
      "OAUTH2_PROXY_EMAIL_DOMAINS=*\nOAUTH2_PROXY_EMAIL_DOMAINS=example.com\n", to: "twice.env")
    let twice = try folder.run(["--env", "twice.env"])
    #expect(twice.standardOutput.contains("allow_email_domains = [\"example.com\"]"), "\(twice.standardOutput)")
    try folder.directory.write("OAUTH2_PROXY_EMAIL_DOMAIN=*\n", to: "misspelled.env")
    let misspelled = try folder.run(["--env", "misspelled.env"])
    #expect(misspelled.standardOutput.contains(Self.closed), "\(misspelled.standardOutput)")
  }

  @Test(
    "A line that names a variable of oauth2-proxy in another form is refused, because a restriction may be in it",
    arguments: [
      "      - OAUTH2_PROXY_GOOGLE_GROUPS=admins@example.com", "- \"OAUTH2_PROXY_EMAIL_DOMAINS=example.com\"",
      "Environment=OAUTH2_PROXY_EMAIL_DOMAINS=example.com", "-e OAUTH2_PROXY_EMAIL_DOMAINS=example.com",
      "OAUTH2_PROXY_SKIP_AUTH_ROUTES: GET=^/x/", "export  OAUTH2_PROXY_EMAIL_DOMAINS=example.com",
    ])
  func otherFormOfVariable(line: String) throws {
    try folder.directory.write("email_domains = [\"*\"]\nprovider = \"google\"\n", to: "oauth2-proxy.cfg")
    try folder.directory.write("TZ=Europe/Berlin\n\(line)\n", to: "proxy.env")
    let made = try folder.run(["oauth2-proxy.cfg", "--env", "proxy.env"])
    #expect(made.exit == .code(65), "\(made)")
    #expect(made.standardOutput.isEmpty)
    #expect(made.standardError.contains("proxy.env:2: OAUTH2_PROXY_NAME=value is expected"), "\(made.standardError)")
  }

  @Test(
    "Comments, and variables of other programs that mention one of oauth2-proxy, are skipped",
    arguments: [
      "# OAUTH2_PROXY_EMAIL_DOMAINS=*", "; OAUTH2_PROXY_EMAIL_DOMAINS=*", ";OAUTH2_PROXY_EMAIL_DOMAINS=*",
      "APP_OAUTH2_PROXY_URL=http://proxy:4180", "CALLBACK=${OAUTH2_PROXY_REDIRECT_URL}",
      "export NOTE=\"OAUTH2_PROXY_EMAIL_DOMAINS=*\"", "TZ=Europe/Berlin # not OAUTH2_PROXY_EMAIL_DOMAINS",
    ])
  func otherVariables(line: String) throws {
    try folder.directory.write("email_domains = [\"*\"]\nprovider = \"google\"\n", to: "oauth2-proxy.cfg")
    try folder.directory.write("OAUTH2_PROXY_EMAIL_DOMAINS=example.com\n\(line)\n", to: "proxy.env")
    let made = try folder.run(["oauth2-proxy.cfg", "--env", "proxy.env"])
    #expect(made.exit == .code(0), "\(made)")
    #expect(made.standardOutput.contains("allow_email_domains = [\"example.com\"]"), "\(made.standardOutput)")
  }

  @Test("The first variable of a file that begins with a byte order mark counts")
  func byteOrderMark() throws {
    try folder.directory.write("email_domains = [\"*\"]\nprovider = \"google\"\n", to: "oauth2-proxy.cfg")
    try folder.directory.write("\u{FEFF}OAUTH2_PROXY_EMAIL_DOMAINS=example.com\r\n", to: "proxy.env")
    let made = try folder.run(["oauth2-proxy.cfg", "--env", "proxy.env"])
    #expect(made.standardOutput.contains("allow_email_domains = [\"example.com\"]"), "\(made.standardOutput)")
  }

  @Test("Unverified addresses are accepted only if those of Apple were accepted before")
  func unverifiedAddresses() throws {
    let option = "insecure_oidc_allow_unverified_email = true\nemail_domains = [\"example.com\"]\n"
    let company = try folder.translate(
      "provider = \"oidc\"\noidc_issuer_url = \"https://id.example.com\"\n\(option)")
    #expect(!company.configuration.contains("allow_unverified_email"), "\(company.configuration)")
    #expect(company.notes.contains("insecure_oidc_allow_unverified_email: LEFT"), "\(company.notes)")
    let apple = try folder.translate(Self.apple + option)
    #expect(apple.configuration.contains("allow_unverified_email = true"), "\(apple.configuration)")
  }

  @Test("The translation keeps out whom oauth2-proxy kept out, on every path")
  func keepsOut() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let (port, admin) = (try FreePort.take(), try FreePort.take())
    let origin = "http://localhost:\(port)"
    let apple = try SimulatorProcess(redirectURI: "\(origin)/oauth2/callback")
    defer { apple.stop() }
    func run(_ access: String, _ body: (_ status: (_ user: String, _ path: String) throws -> Int) throws -> Void) throws
    {
      let made = try folder.translate(
        Self.apple + """
          client_id = "\(GatewayConfiguration.clientID)"
          redirect_url = "https://app.example.com"
          http_address = "127.0.0.1:\(port)"
          metrics_address = "127.0.0.1:\(admin)"
          upstreams = ["http://127.0.0.1:\(upstream.port)/", "http://127.0.0.1:\(upstream.port)/reports/"]
          api_routes = ["^/api/"]
          skip_auth_routes = ["^/public/"]
          \(access)

          """)
      let text = made.configuration
        .replacing("team_id = \"DEF123GHIJ\"", with: "team_id = \"\(GatewayConfiguration.teamID)\"")
        .replacing("key_id = \"ABC123DEFG\"", with: "key_id = \"\(GatewayConfiguration.keyID)\"")
        .replacing("https://app.example.com", with: origin)
        .replacing("[apple]\n", with: "[apple]\nbase_url = \"\(apple.baseURL)\"\n")
      try folder.check(text + "[store]\nurl = \"sqlite:\(UUID().uuidString).db\"\n")
      let process = try ServerProcess(
        Machine.binary("cordon"), ["run", "--config", "gateway.conf"], directory: folder.directory.path)
      defer { process.stop() }
      try process.waitUntilReady("the gateway is ready") { try HTTPClient(port: admin).get("/readyz").status == 200 }
      try body { user, path in
        let visitor = Visitor()
        try visitor.open("\(origin)/oauth2/authorize")
        try visitor.decide(.proceed(user: user))
        try visitor.carryBack(following: false)
        return try visitor.open(origin + path, following: false).status
      }
      #expect(try Visitor().open(origin + "/public/x", following: false).status == 200)
      #expect(try HTTPClient(port: port, host: "localhost").get("/x").status != 200)
      process.signal(SIGTERM)
      _ = try process.waitForExit()
    }
    let paths = ["/", "/x", "/api/x", "/reports/x"]
    try folder.directory.write("anna.bergstrom@example.com\n", to: "emails.txt")
    try run("email_domains = [\"example.org\"]\nauthenticated_emails_file = \"emails.txt\"") { status throws in
      for path in paths {
        #expect(try status("anna", path) == 200, "by the file: \(path)")
        #expect(try status("ben", path) == 200, "by the domain: \(path)")
        #expect(try status("eleni", path) == 403, "\(path)")
        #expect(try status("dana", path) == 403, "\(path)")
      }
    }
    try run("email_domains = [\"example.org\"]\nallowed_groups = [\"staff\"]") { status throws in
      for path in paths { #expect(try status("ben", path) == 403, "\(path)") }
    }
    try run("email_domains = [\"*\"]") { status throws in
      for path in paths { #expect(try status("eleni", path) == 200, "\(path)") }
    }
  }

  @Test("A list of domains with * lets everybody pass who is signed in")
  func everybody() throws {
    let made = try folder.translate("email_domains = [\"*\"]\n")
    #expect(!made.configuration.contains("[[route]]"))
    #expect(made.notes.contains("email_domains: needs nothing"))
  }
}
