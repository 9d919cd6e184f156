import ConfigurationFile

/// What an oauth2-proxy.cfg means to the gateway, and what has no meaning there.
struct OAuth2ProxyTranslation {
  /// What became of one option.
  enum Outcome: Equatable {
    /// It stands in the configuration.
    case translated
    /// Nothing is to be done: the gateway does so anyway, or has no need of it.
    case unneeded(String)
    /// The gateway does otherwise, or needs to be told more.
    case left(String)
  }

  /// What a person is told of one option.
  struct Note {
    let line: Int
    let text: String
  }

  private(set) var configuration = ConfigurationText(
    head: """
      Made by `cordon import` from a configuration of oauth2-proxy. What is Apple's is in the quick start:
      the Services ID, the team, the key's identifier and its file.
      """)
  private(set) var notes: [Note] = []
  private var counts = (translated: 0, unneeded: 0, left: 0)
  /// The domains of `email_domains`; nil for everybody.
  private var emailDomains: [String]?

  init(of settings: ForeignSettings) {
    configuration.set("public_url", .text("https://app.example.com"))
    configuration.set("listen.address", .text("127.0.0.1:4180"))
    configuration.set("upstream.url", .text("http://127.0.0.1:3000"))
    configuration.set(
      "apple.client_id", .text("com.example.web"), comment: "examples: put your own here, all four")
    configuration.set("apple.team_id", .text("DEF123GHIJ"))
    configuration.set("apple.key_id", .text("ABC123DEFG"))
    configuration.set("apple.private_key_file", .text("AuthKey_ABC123DEFG.p8"))
    configuration.set(
      "session.secret_files", .texts(["session.key"]), comment: "cordon keygen --output session.key")
    for setting in settings.settings {
      let outcome = translate(setting, in: settings)
      switch outcome {
      case .translated: counts.translated += 1
      case .unneeded(let why):
        counts.unneeded += 1
        notes.append(Note(line: setting.line, text: "\(setting.name): needs nothing: \(why)"))
      case .left(let what):
        counts.left += 1
        notes.append(Note(line: setting.line, text: "\(setting.name): LEFT: \(what)"))
      }
    }
    if let emailDomains {
      configuration.append("route", [("path", .text("/")), ("allow_email_domains", .texts(emailDomains))])
    }
  }

  /// One line about the whole.
  var summary: String {
    "\(counts.translated) translated, \(counts.unneeded) unneeded, \(counts.left) left for you."
  }

  private mutating func translate(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    if let outcome = OAuth2ProxyOptions.fixed(setting.name) { return outcome }
    switch setting.name {
    case "provider", "oidc_issuer_url": return provider(setting)
    case "client_id": return clientID(setting, in: all)
    case "redirect_url": return redirectURL(setting)
    case "proxy_prefix":
      guard case .text(let path) = setting.value else { return Self.notText }
      // redirect_url says it, too, and knows better: it is what Apple compares.
      if all.settings.contains(where: { $0.name == "redirect_url" }) { return .unneeded("redirect_url says it") }
      configuration.set("path_prefix", .text(path))
      return .translated
    case "http_address", "https_address": return address(setting, in: all)
    case "tls_cert_file": return text(setting, "listen.tls_certificate_file")
    case "tls_key_file": return text(setting, "listen.tls_private_key_file")
    case "upstreams": return upstreams(setting)
    case "upstream_timeout": return duration(setting, "upstream.timeouts.first_byte")
    case "cookie_expire": return duration(setting, "session.lifetime")
    case "email_domains": return domains(setting)
    case "skip_auth_routes", "skip_auth_regex":
      return routes(setting, ("access", .text("public")))
    case "api_routes": return routes(setting, ("unauthenticated", .text("401")))
    case "skip_provider_button":
      guard case .truth(let skip) = setting.value else { return .left("true or false is expected") }
      configuration.set("pages.show_sign_in_page", .truth(!skip))
      return .translated
    case "request_logging": return truth(setting, "log.access")
    case "insecure_oidc_allow_unverified_email": return truth(setting, "identity.allow_unverified_email")
    case "scope": return scope(setting)
    case "set_xauthrequest": return responseHeaders(setting)
    case "metrics_address": return adminAddress(setting)
    case "session_store_type":
      if setting.value == .text("cookie") { return .unneeded("sessions are in the store; the cookie only names one") }
      return .left("several gateways share PostgreSQL: store.url = \"postgresql://…\"; one alone needs nothing")
    default: return .left("this translation does not know it")
    }
  }

  // MARK: Apple

  private func provider(_ setting: ForeignSettings.Setting) -> Outcome {
    switch setting.value {
    case .text("apple"), .text("oidc"), .text("https://appleid.apple.com"): .unneeded("it is Apple")
    default: .left("the only provider is Apple: register a Services ID, see Documentation/QUICK-START-APPLE.md")
    }
  }

  private mutating func clientID(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    let isApple = all.settings.contains {
      $0.value == .text("apple") || $0.value == .text("https://appleid.apple.com")
    }
    guard isApple else { return .left("it is another provider's: apple.client_id is the Services ID") }
    return text(setting, "apple.client_id")
  }

  private mutating func scope(_ setting: ForeignSettings.Setting) -> Outcome {
    guard case .text(let scope) = setting.value else { return Self.notText }
    let words = scope.split(separator: " ").map(String.init)
    let known = ["name", "email"].filter(words.contains)
    let isNameMeant = words.contains("profile") && !known.contains("name")
    configuration.set("apple.scopes", .texts(isNameMeant ? ["name"] + known : known))
    return .translated
  }

  // MARK: Addresses

  private mutating func redirectURL(_ setting: ForeignSettings.Setting) -> Outcome {
    guard case .text(let url) = setting.value, let (origin, path) = OAuth2ProxyValue.originAndPath(url) else {
      return .left("public_url is the origin that browsers see, path_prefix what stands before /callback")
    }
    configuration.set("public_url", .text(origin))
    guard path.hasSuffix("/callback"), path.utf8.count > "/callback".utf8.count else {
      return .left("the return URL ends in /callback, behind a prefix: register public_url + path_prefix + /callback")
    }
    configuration.set("path_prefix", .text(String(path.dropLast("/callback".count))))
    return .translated
  }

  private mutating func address(_ setting: ForeignSettings.Setting, in all: ForeignSettings) -> Outcome {
    guard case .text(let text) = setting.value, let address = OAuth2ProxyValue.address(text) else {
      return .left("listen.address is an address and a port, or \"unix:/path\"")
    }
    let speaksTLS = all.settings.contains { $0.name == "tls_cert_file" && $0.value != .text("") }
    guard (setting.name == "https_address") == speaksTLS else {
      return .unneeded("there is one listener, with TLS where tls_cert_file is given")
    }
    configuration.set("listen.address", .text(address))
    return .translated
  }

  private mutating func adminAddress(_ setting: ForeignSettings.Setting) -> Outcome {
    guard case .text(let text) = setting.value, let address = OAuth2ProxyValue.address(text) else {
      return .left("admin.address is an address and a port; health is there, too")
    }
    configuration.set("admin.address", .text(address))
    return .translated
  }

  /// The one without a path is the application; each other one is an upstream of its own, with a route.
  private mutating func upstreams(_ setting: ForeignSettings.Setting) -> Outcome {
    guard let list = setting.value.list else { return Self.notText }
    var left: [String] = []
    var hasRoot = false
    for (index, entry) in list.enumerated() {
      if let (origin, path) = OAuth2ProxyValue.upstream(entry) {
        if path.isEmpty || path == "/" {
          configuration.set("upstream.url", .text(origin))
          hasRoot = true
        } else {
          configuration.append("upstreams", [("name", .text("upstream-\(index + 1)")), ("url", .text(origin))])
          configuration.append("route", [("path", .text(path)), ("upstream", .text("upstream-\(index + 1)"))])
        }
      } else {
        left.append(entry)
      }
    }
    if !hasRoot { left.append("/ (no upstream is for it)") }
    return left.isEmpty
      ? .translated
      : .left("not an application that listens: \(left.joined(separator: ", ")); a web server can serve it")
  }

  // MARK: Who may see what

  private mutating func domains(_ setting: ForeignSettings.Setting) -> Outcome {
    guard let list = setting.value.list else { return Self.notText }
    if list.contains("*") { return .unneeded("everybody who is signed in may pass, unless a route says otherwise") }
    emailDomains = list.map { String($0.drop { $0 == "." || $0 == "*" }) }
    return list.contains { $0.hasPrefix(".") || $0.hasPrefix("*") }
      ? .left("subdomains are not matched by a domain: name each in allow_email_domains") : .translated
  }

  private mutating func routes(
    _ setting: ForeignSettings.Setting, _ rule: (key: String, value: ConfigurationText.Value)
  ) -> Outcome {
    guard let list = setting.value.list else { return Self.notText }
    var left: [String] = []
    for pattern in list {
      if let path = OAuth2ProxyValue.prefix(pattern) {
        configuration.append("route", [("path", .text(path)), rule], comment: "was \(pattern)")
      } else {
        left.append(pattern)
      }
    }
    return left.isEmpty
      ? .translated
      : .left("routes go by the beginning of the path, for every method: write one for \(left.joined(separator: ", "))")
  }

  private mutating func responseHeaders(_ setting: ForeignSettings.Setting) -> Outcome {
    guard setting.value == .truth(true) else { return .unneeded("it is switched off") }
    configuration.set("identity.headers.X-Forwarded-User", .text("sub"))
    configuration.set("identity.headers.X-Forwarded-Email", .text("email"))
    configuration.set("identity.headers.X-Auth-Request-User", .text("sub"))
    configuration.set("identity.headers.X-Auth-Request-Email", .text("email"))
    return .translated
  }

  // MARK: Simple values

  private mutating func text(_ setting: ForeignSettings.Setting, _ key: String) -> Outcome {
    guard case .text(let text) = setting.value else { return Self.notText }
    guard !text.isEmpty else { return .unneeded("it is empty") }
    configuration.set(key, .text(text))
    return .translated
  }

  private mutating func truth(_ setting: ForeignSettings.Setting, _ key: String) -> Outcome {
    guard case .truth(let truth) = setting.value else { return .left("true or false is expected") }
    configuration.set(key, .truth(truth))
    return .translated
  }

  private mutating func duration(_ setting: ForeignSettings.Setting, _ key: String) -> Outcome {
    guard case .text(let text) = setting.value, let duration = OAuth2ProxyValue.duration(text) else {
      return .left("\(key) wants a whole number and a unit: ms, s, m, h or d")
    }
    configuration.set(key, .text(duration))
    return .translated
  }

  private static let notText = Outcome.left("a text is expected, or a list of texts")
}
