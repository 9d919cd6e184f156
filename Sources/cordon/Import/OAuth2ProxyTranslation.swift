import ConfigurationFile

/// Translation of an oauth2-proxy.cfg, with the options that have no equivalent.
struct OAuth2ProxyTranslation {
  typealias Outcome = ImportedConfiguration.Outcome

  private(set) var result: ImportedConfiguration
  private(set) var addresses = OAuth2ProxyAddresses()
  private var access = OAuth2ProxyAccess()
  private var routes = OAuth2ProxyRoutes()
  /// Reads a file that the settings name; nil where that is not possible.
  private let read: (String) -> [UInt8]?
  /// Whether oauth2-proxy's own file is among the sources of the settings.
  private let includesFile: Bool

  /// - Parameters:
  ///   - settings: oauth2-proxy's settings from all sources.
  ///   - includesFile: whether oauth2-proxy's own file is one of these sources.
  ///   - read: reads a file that the settings name; nil where that is not possible.
  init(of settings: ForeignSettings, includesFile: Bool, read: @escaping (String) -> [UInt8]?) {
    self.read = read
    self.includesFile = includesFile
    result = ImportedConfiguration(
      of: settings,
      head: """
        Made by `cordon import` from a configuration of oauth2-proxy. What is Apple's is in the quick start:
        the Services ID, the team, the key's identifier and its file.
        """)
    for setting in settings.settings {
      let outcome = translate(setting, in: settings)
      result.note(outcome, setting)
    }
    if case .text(let prefix)? = settings.settings.first(where: { $0.name == "proxy_prefix" })?.value, !prefix.isEmpty {
      addresses.oldPrefix = prefix
    }
    access.finish(isFromElsewhere: OAuth2ProxyProvider(settings) == .privateUsers)
    access.write(to: &result.configuration, &routes)
    routes.write(to: &result.configuration)
    result.finish()
    setDefaults(settings)
    if let prefix = result.configuration.text(of: "path_prefix") { addresses.newPrefix = prefix }
  }

  /// Writes oauth2-proxy's defaults that differ from the gateway's and that no option has replaced. Last: a value that
  /// the gateway refuses was taken out before, and must not leave sessions with the gateway's thirty days.
  private mutating func setDefaults(_ settings: ForeignSettings) {
    if !result.configuration.has("session.lifetime") {
      let isRefused = settings.settings.contains { $0.name == "cookie_expire" }
      result.configuration.set(
        "session.lifetime", .text(isRefused ? "12h" : "7d"),
        comment: isRefused ? "cookie_expire was not translated: put your own here" : Self.defaultComment)
    }
    if !result.configuration.has("log.access") {
      result.configuration.set("log.access", .truth(true), comment: Self.defaultComment)
    }
  }

  private static let defaultComment = "oauth2-proxy's default"

  /// The effects of a skipped sign-in page.
  private static let withoutPage =
    "the page is skipped, but for a link of another site with an address of more than 512 bytes, which would be lost; "
    + "without the page fragments (#/orders/17) are lost: pages.show_sign_in_page = true keeps them"

  private mutating func translate(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    if OAuth2ProxyOptions.isRestriction(setting.name) { return restriction(setting) }
    if let outcome = OAuth2ProxyOptions.fixed(setting.name) { return outcome }
    if let (usual, unneeded, left) = OAuth2ProxyOptions.switches[setting.name] {
      if setting.name == "reverse_proxy", setting.value == .truth(true), Self.namesTrustedProxies(all) {
        return .unneeded("covered by trusted_proxy_ips")
      }
      return setting.value == .truth(usual) ? .unneeded(unneeded) : .left(left)
    }
    switch setting.name {
    case "provider", "oidc_issuer_url": return provider(setting, in: all)
    case "client_id": return clientID(setting, in: all)
    case "redirect_url": return redirectURL(setting, in: all)
    case "proxy_prefix": return proxyPrefix(setting, in: all)
    case "http_address", "https_address": return address(setting, in: all)
    case "tls_cert_file": return text(setting, "listen.tls_certificate_file")
    case "tls_key_file": return text(setting, "listen.tls_private_key_file")
    case "upstreams": return upstreams(setting)
    case "upstream_timeout": return duration(setting, "upstream.timeouts.first_byte")
    case "cookie_expire": return duration(setting, "session.lifetime")
    // Not `email_domain`, which is the argument's name only: in a file or the environment oauth2-proxy ignores it.
    case "email_domains": return domains(setting)
    case "authenticated_emails_file": return emailsFile(setting)
    case "trusted_proxy_ips", "trusted_proxy_ip": return trustedProxies(setting, in: all)
    case "auth_request_response_mode": return text(setting, "apple.response_mode")
    case "auth_logging": return truth(setting, "log.audit")
    case "skip_auth_routes", "skip_auth_regex":
      return addRoutes(setting, ("access", .text("public")))
    case "api_routes": return addRoutes(setting, ("unauthenticated", .text("401")))
    case "skip_auth_preflight": return preflight(setting)
    case "alpha_config":
      if setting.value == .text("") { return .unneeded("it is empty") }
      access.deny("alpha_config names another file, whose providers and upstreams were not read")
      return .left("translate that file by hand, see Documentation/MIGRATING.md, and remove the route that denies")
    case "config": return otherFile(setting)
    case "skip_provider_button":
      guard case .truth(let skip) = setting.value else { return .left("true or false is expected") }
      result.set("pages.show_sign_in_page", .truth(!skip), from: setting)
      return skip ? .left(Self.withoutPage) : .translated
    case "cookie_samesite": return sameSite(setting)
    case "tls_min_version":
      return setting.value == .text("TLS1.3")
        ? .left("TLS 1.2 is accepted, too: a proxy before the gateway can refuse it") : .unneeded("TLS 1.2 at least")
    case "request_logging": return truth(setting, "log.access")
    case "insecure_oidc_allow_unverified_email": return unverifiedEmail(setting, in: all)
    case "scope": return scope(setting)
    case "set_xauthrequest": return responseHeaders(setting)
    case "metrics_address": return adminAddress(setting)
    case "session_store_type":
      if setting.value == .text("cookie") { return .unneeded("sessions are in the store; the cookie only names one") }
      return .left("several gateways share PostgreSQL: store.url = \"postgresql://…\"; one alone needs nothing")
    default: return access.add(unknown: setting.name)
    }
  }

  // MARK: Apple

  private func provider(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    let isApple = OAuth2ProxyProvider(all) == .apple
    let register = "the only provider is Apple: register a Services ID, see Documentation/QUICK-START-APPLE.md"
    switch setting.value {
    case .text("oidc") where !isApple:
      return all.settings.contains { $0.name == "oidc_issuer_url" }
        ? .left(register) : .left("without oidc_issuer_url it does not say whose; \(register)")
    case .text("apple"), .text("oidc"): return .unneeded("it is Apple")
    default: return isApple && setting.name == "oidc_issuer_url" ? .unneeded("it is Apple") : .left(register)
    }
  }

  private mutating func clientID(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    guard OAuth2ProxyProvider(all) == .apple else {
      return .left("it is another provider's: apple.client_id is the Services ID")
    }
    return text(setting, "apple.client_id")
  }

  private mutating func scope(_ setting: ForeignSettings.Setting) -> Outcome {
    guard case .text(let scope) = setting.value else { return Self.notText }
    let words = scope.split(separator: " ").map(String.init)
    let known = ["name", "email"].filter(words.contains)
    let isNameMeant = words.contains("profile") && !known.contains("name")
    result.set("apple.scopes", .texts(isNameMeant ? ["name"] + known : known), from: setting)
    return .translated
  }

  // MARK: Addresses

  /// `redirect_url` is what the provider compares, so it decides about the prefix. Without a path oauth2-proxy appends
  /// `proxy_prefix` and `/callback`.
  private mutating func redirectURL(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    guard case .text(let url) = setting.value, let (origin, path) = OAuth2ProxyValue.originAndPath(url) else {
      return .left("public_url is the origin that browsers see, path_prefix what stands before /callback")
    }
    // The message about a refused value would show them.
    guard !OAuth2ProxyValue.withoutUserInformation(url).hadUser else {
      return .left("user and password are not part of public_url: leave out everything up to the \"@\"")
    }
    result.set("public_url", .text(origin), from: setting)
    if path.isEmpty {
      let prefix = all.settings.first { $0.name == "proxy_prefix" }
      if prefix == nil { result.set("path_prefix", .text("/oauth2"), from: setting) }
      return .translated
    }
    guard path.hasSuffix("/callback"), path.utf8.count > "/callback".utf8.count else {
      return .left("the return URL ends in /callback, after a prefix: register public_url + path_prefix + /callback")
    }
    result.set("path_prefix", .text(String(path.dropLast("/callback".count))), from: setting)
    return .translated
  }

  private mutating func proxyPrefix(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    guard case .text(let prefix) = setting.value else { return Self.notText }
    let redirect = all.settings.first { $0.name == "redirect_url" }
    if case .text(let url)? = redirect?.value, let path = OAuth2ProxyValue.originAndPath(url)?.path, !path.isEmpty {
      return .unneeded("covered by redirect_url")
    }
    result.set("path_prefix", .text(prefix), from: setting)
    return .translated
  }

  private mutating func address(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    guard case .text(let text) = setting.value, let address = OAuth2ProxyValue.address(text) else {
      return .left("listen.address is an address and a port, or \"unix:/path\", whose mode the umask decides")
    }
    let speaksTLS = all.settings.contains { $0.name == "tls_cert_file" && $0.value != .text("") }
    switch (setting.name == "https_address", speaksTLS) {
    case (true, true), (false, false): break
    case (true, false): return .unneeded("without tls_cert_file nothing speaks TLS")
    case (false, true):
      return .left("https_address is listened on: add a [[listener]], with redirect = true if it is to lead to https")
    }
    result.set("listen.address", .text(address), from: setting)
    return .translated
  }

  private mutating func adminAddress(_ setting: ForeignSettings.Setting) -> Outcome {
    guard case .text(let text) = setting.value, let address = OAuth2ProxyValue.address(text) else {
      return .left("admin.address is an address and a port; health is there, too")
    }
    result.set("admin.address", .text(address), from: setting)
    return .translated
  }

  private static func namesTrustedProxies(_ all: ForeignSettings) -> Bool {
    all.settings.contains { $0.name.hasPrefix("trusted_proxy_ip") && $0.value.words?.isEmpty == false }
  }

  private mutating func trustedProxies(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    guard let list = setting.value.words else { return Self.notText }
    guard !list.isEmpty else { return .unneeded("it is empty") }
    guard all.settings.contains(where: { $0.name == "reverse_proxy" && $0.value == .truth(true) }) else {
      return .left("without reverse_proxy it has no effect: name proxies in listen.trusted_proxies if there are any")
    }
    result.set("listen.trusted_proxies", .texts(list.map(OAuth2ProxyValue.network)), from: setting)
    return .translated
  }

  private mutating func upstreams(_ setting: ForeignSettings.Setting) -> Outcome {
    guard let list = setting.value.words else { return Self.notText }
    let upstreams = OAuth2ProxyUpstreams(list, &routes)
    if let application = upstreams.application {
      result.set("upstream.url", .text(application.origin), comment: application.comment, from: setting)
    }
    for upstream in upstreams.others {
      result.configuration.append("upstreams", [("name", .text(upstream.name)), ("url", .text(upstream.origin))])
    }
    return upstreams.left.map { .left($0) } ?? .translated
  }

  // MARK: Who may see what

  private mutating func domains(_ setting: ForeignSettings.Setting) -> Outcome {
    guard let list = setting.value.words else {
      access.deny("\(setting.name) could not be read")
      return Self.notText
    }
    return access.add(domains: list)
  }

  private mutating func emailsFile(_ setting: ForeignSettings.Setting) -> Outcome {
    if setting.value == .text("") { return .unneeded("it is empty") }
    guard case .text(let path) = setting.value else {
      access.deny("authenticated_emails_file could not be read")
      return Self.notText
    }
    return access.add(file: path, contents: read(path))
  }

  /// `config`: oauth2-proxy's own file, which may restrict access.
  private mutating func otherFile(_ setting: ForeignSettings.Setting) -> Outcome {
    if setting.value == .text("") { return .unneeded("it is empty") }
    if includesFile { return .unneeded("the FILE that was named is taken to be this one") }
    access.deny("config names oauth2-proxy's file, which was not read: run cordon import again with that file")
    return .left(
      "that file was not read, so everything is denied: run cordon import FILE with that file, together with --env and "
        + "--args")
  }

  /// An unverified address was whatever another provider's operator entered; at Apple an organization can enter the
  /// address of somebody else, and would be admitted by it.
  private mutating func unverifiedEmail(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    guard setting.value == .truth(false) || OAuth2ProxyProvider(all) == .apple else {
      return .left("it was about another provider's addresses: identity.allow_unverified_email is about Apple's")
    }
    return truth(setting, "identity.allow_unverified_email")
  }

  private mutating func restriction(_ setting: ForeignSettings.Setting) -> Outcome {
    let isNone = setting.value.words.map { $0.allSatisfy(\.isEmpty) } ?? false
    let isEveryTenant = setting.name == "azure_tenant" && setting.value == .text("common")
    return isNone || isEveryTenant ? .unneeded("it restricts nothing") : access.add(restriction: setting.name)
  }

  private mutating func addRoutes(
    _ setting: ForeignSettings.Setting, _ rule: (key: String, value: ConfigurationText.Value)
  ) -> Outcome {
    guard let list = setting.value.words else { return Self.notText }
    var left: [String] = []
    var narrower: [String] = []
    for pattern in list {
      guard let (place, isNarrower) = OAuth2ProxyValue.path(pattern) else {
        left.append(pattern)
        continue
      }
      if isNarrower { narrower.append(pattern) }
      _ = routes.add(
        place, rule.key, rule.value,
        comment: "was \(pattern)" + (place.method == "GET" ? "; here GET includes HEAD" : ""))
    }
    var notes: [String] = []
    if !left.isEmpty {
      notes.append("routes go by one path or the beginning of paths: write one for \(left.joined(separator: ", "))")
    }
    if !narrower.isEmpty {
      notes.append("each dot is taken for a dot, not for any character, in \(narrower.joined(separator: ", "))")
    }
    return notes.isEmpty ? .translated : .left(notes.joined(separator: "; "))
  }

  private mutating func preflight(_ setting: ForeignSettings.Setting) -> Outcome {
    guard setting.value == .truth(true) else { return .unneeded("it is switched off") }
    _ = routes.add(.init(path: "/"), "preflight", .text("pass"), comment: "was skip_auth_preflight")
    return .left("preflights of CORS pass, if the application is to answer them; other requests with OPTIONS do not")
  }

  private mutating func responseHeaders(_ setting: ForeignSettings.Setting) -> Outcome {
    guard setting.value == .truth(true) else { return .unneeded("it is switched off") }
    for (name, claim) in [
      ("X-Forwarded-User", "sub"), ("X-Forwarded-Email", "email"), ("X-Forwarded-Name", "name"),
      ("X-Auth-Request-User", "sub"), ("X-Auth-Request-Email", "email"),
    ] { result.configuration.set("identity.headers.\(name)", .text(claim)) }
    return .left(
      "X-Auth-Request-User and -Email go to the application and are in the answers of verify, not in those to "
        + "browsers; there is no -Groups, -Preferred-Username or -Access-Token")
  }

  private func sameSite(_ setting: ForeignSettings.Setting) -> Outcome {
    switch setting.value {
    case .text("strict"): .left("it is Lax: a link of another site opens with the session, as it did not before")
    case .text("none"): .left("it is Lax: in a frame of another site nobody is signed in")
    default: .unneeded("it is Lax; Apple's answer across sites is taken care of")
    }
  }

  // MARK: Simple values

  private mutating func text(_ setting: ForeignSettings.Setting, _ key: String) -> Outcome {
    guard case .text(let text) = setting.value else { return Self.notText }
    guard !text.isEmpty else { return .unneeded("it is empty") }
    result.set(key, .text(text), from: setting)
    return .translated
  }

  private mutating func truth(_ setting: ForeignSettings.Setting, _ key: String) -> Outcome {
    guard case .truth(let truth) = setting.value else { return .left("true or false is expected") }
    result.set(key, .truth(truth), from: setting)
    return .translated
  }

  private mutating func duration(_ setting: ForeignSettings.Setting, _ key: String) -> Outcome {
    guard case .text(let text) = setting.value, let duration = OAuth2ProxyValue.duration(text) else {
      return .left("\(key) wants a whole number and a unit: ms, s, m, h or d")
    }
    result.set(key, .text(duration), from: setting)
    return .translated
  }

  private static let notText = Outcome.left("a text is expected, or a list of texts")
}
