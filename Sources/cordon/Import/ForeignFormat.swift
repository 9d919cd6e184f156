import WebFormats

/// The format of a file that is not TOML, as far as its contents or its name tell.
enum ForeignFormat {
  /// The configuration of Apache, mod_auth_openidc's as well.
  case apache
  /// The configuration of nginx.
  case nginx
  /// The configuration of Pomerium, in YAML.
  case pomerium
  /// Any other YAML, oauth2-proxy's alpha configuration as well.
  case yaml
  case json

  /// Nil if the contents have another format: then they are most probably meant to be TOML.
  init?(_ contents: [UInt8], name: String) {
    let lines = contents.split(separator: 0x0A).map(Self.trimmed).filter { !$0.isEmpty && !$0.hasPrefix("#") }
    // Markup in a text, for instance, is not a section of Apache's.
    guard let first = lines.first, !Self.isAssignment(first) else { return nil }
    // A table of TOML has its brackets and its name in one line.
    if first.hasPrefix("{") || first == "[" || first.hasPrefix("[{") {
      self = .json
    } else if lines.contains(where: Self.isOfApache) {
      self = .apache
    } else if lines.contains(where: Self.isOfNginx) {
      self = .nginx
    } else if lines.contains(where: { line in Self.pomeriumKeys.contains { line.hasPrefix("\($0):") } }) {
      self = .pomerium
    } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") || first == "---" || Self.isOfYAML(first)
      || lines.contains(where: { line in Self.alphaKeys.contains { line.hasPrefix("\($0):") } })
    {
      self = .yaml
    } else {
      return nil
    }
  }

  /// The format, and what to do with the file.
  var explanation: String {
    let wanted = "FILE is the file of oauth2-proxy's --config, in TOML"
    return switch self {
    case .apache:
      "this is Apache's configuration, and is translated by hand: see \"From mod_auth_openidc\" in "
        + "Documentation/MIGRATING.md"
    case .nginx:
      "this is nginx's configuration; \(wanted). For nginx in front of Cordon see \"External authorization: verify\" "
        + "in Documentation/OPERATING.md"
    case .pomerium:
      "this is Pomerium's configuration, and is translated by hand: see \"From Pomerium\" in Documentation/MIGRATING.md"
    case .yaml:
      "this is YAML, as oauth2-proxy's alpha configuration is, and is translated by hand: see \"From oauth2-proxy\" in "
        + "Documentation/MIGRATING.md; \(wanted)"
    case .json: "this is JSON, and is translated by hand: see Documentation/MIGRATING.md; \(wanted)"
    }
  }

  // MARK: Marks of each format

  private static let pomeriumKeys = ["authenticate_service_url", "idp_provider", "pomerium", "routes"]
  private static let alphaKeys = [
    "injectRequestHeaders", "injectResponseHeaders", "metricsServer", "providers", "server", "upstreamConfig",
  ]
  /// In lower case: Apache ignores it.
  private static let apacheDirectives: Set<String> = [
    "authtype", "documentroot", "loadmodule", "proxypass", "require", "servername",
  ]
  private static let nginxDirectives: Set<String> = [
    "auth_request", "error_page", "events", "http", "include", "listen", "location", "proxy_pass", "server",
    "server_name", "upstream", "worker_processes",
  ]

  /// Whether a line is a section, `<Location />`, or a directive and its arguments.
  private static func isOfApache(_ line: String) -> Bool {
    if line.hasPrefix("<") { return line.hasSuffix(">") }
    let words = words(line)
    guard words.count > 1, words[1] != "=", let directive = words.first?.lowercased() else { return false }
    let isOpenIDConnect =
      directive.hasPrefix("oidc") && directive.utf8.count > 4 && directive.utf8.allSatisfy(\.isASCIILetterOrDigit)
    return isOpenIDConnect || apacheDirectives.contains(directive)
  }

  /// Whether a line is a directive that ends with a semicolon, or the beginning of a block.
  private static func isOfNginx(_ line: String) -> Bool {
    guard line.hasSuffix(";") || line.hasSuffix("{"), let directive = words(line).first else { return false }
    return nginxDirectives.contains(directive)
  }

  /// Whether a line begins with a key of YAML.
  private static func isOfYAML(_ line: String) -> Bool {
    let key = line.utf8.prefix { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    let rest = line.utf8.dropFirst(key.count)
    return !key.isEmpty && (rest.elementsEqual(":".utf8) || rest.starts(with: ": ".utf8))
  }

  /// Whether a line begins as those of oauth2-proxy's file do, and of none of the others: with a key and "=".
  private static func isAssignment(_ line: String) -> Bool {
    let key = line.utf8.prefix { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    let rest = line.utf8.dropFirst(key.count).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return !key.isEmpty && rest.first == UInt8(ascii: "=")
  }

  private static func words(_ line: String) -> [String] {
    line.split { $0 == " " || $0 == "\t" }.map(String.init)
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
    let content = line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line
    let trimmed: [UInt8] = content.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    return String(decoding: trimmed, as: UTF8.self)
  }
}
