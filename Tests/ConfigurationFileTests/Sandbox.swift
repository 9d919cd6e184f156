import AccessPolicy
import Testing

@testable import ConfigurationFile

/// A machine for tests: a few files in `/conf`, a few variables, and nothing else.
enum Sandbox {
  static let directory = "/conf"
  /// The value of the variable that complaints must never tell.
  static let secretValue = "hunter2-very-secret"

  static func environment(_ name: String) -> String? {
    [
      "SECRET": secretValue, "EMPTY": "", "LINES": "a\nb", "LEGACY_PASSWORD": secretValue,
      "BRACES": "{email}{{", "APP_HOST": "app.example.com", "SESSION_KEY": "session.key",
    ][name]
  }

  /// A P-256 key that was made for these tests and opens nothing.
  static let key = Array(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfEaizGNMrS3eu75o
    hchcBESu68ymOQzUacjlIic2/LyhRANCAASlyFXojoLVYRUS/+GgRVnoxierI1r9
    i46j/rD0TggVmU0QReQsS6Pp1jwD2If4qf1xiEZ6EOSSXjkw8cIX/4t0
    -----END PRIVATE KEY-----

    """.utf8)

  static let files = FileAccess(read: read, list: list)

  private static func list(_ path: String) -> FileAccess.Listing {
    switch path {
    case "/conf/pages": .names([".", "..", ".git", "sign-in.mustache", "style.css", "sign-in.mustache~"])
    case "/conf/bad-pages":
      .names(["signin.mustache", "sign-out.mustache", "style.css", "layout.mustache", "logo.png"])
    case "/conf/old-pages": .names(["failure.mustache"])
    case "/conf/session.key": .notFolder
    case "/conf/locked": .unreadable(reason: "Permission denied")
    default: .missing
    }
  }

  private static func read(_ path: String, _ limit: Int) -> FileAccess.Outcome {
    switch path {
    case "/conf/pages/sign-in.mustache":
      .contents(Array("{{<layout}}{{$content}}{{heading}} {{button}}{{/content}}{{/layout}}".utf8), mode: 0o644)
    case "/conf/pages/style.css": .contents(Array("h1 { color: teal }".utf8), mode: 0o644)
    case "/conf/bad-pages/sign-out.mustache":
      .contents(Array("{{<layout}}{{$content}}\n<h1>{{headding}}</h1>{{/content}}{{/layout}}".utf8), mode: 0o644)
    case "/conf/bad-pages/style.css": .contents(Array("a { color: red }\n@import 'x';".utf8), mode: 0o644)
    case "/conf/bad-pages/layout.mustache": .tooLong
    case "/conf/session.key", "/conf/old.key", "/conf/admin.token", "/etc/cordon/session.key":
      .contents([UInt8](0x41..<0x71), mode: 0o600)
    case "/conf/group.key": .contents([UInt8](0x41..<0x61), mode: 0o640)
    case "/conf/open.key": .contents([UInt8](0x41..<0x61), mode: 0o644)
    case "/conf/repeated.key": .contents(Array(String(repeating: "changeme", count: 6).utf8), mode: 0o600)
    case "/conf/short.key": .contents([UInt8](repeating: 0x41, count: 31) + [0x0A], mode: 0o600)
    case "/conf/empty.key": .contents([], mode: 0o600)
    case "/conf/AuthKey_ABC123DEFG.p8", "/conf/tls/privkey.pem", "/conf/tls/gateway.key", "/conf/assertion.pem":
      .contents(key, mode: 0o600)
    case "/conf/open.p8": .contents(key, mode: 0o604)
    case "/conf/tls/ticket.key", "/conf/tls/ticket-2.key": .contents([UInt8](repeating: 7, count: 80), mode: 0o600)
    case "/conf/tls/ticket-open.key": .contents([UInt8](repeating: 7, count: 48), mode: 0o604)
    case "/conf/tls/ticket-short.key": .contents([UInt8](repeating: 7, count: 47), mode: 0o600)
    case "/conf/tls/fullchain.pem", "/conf/tls/clients.pem", "/conf/tls/internal-ca.pem", "/conf/tls/egress-ca.pem",
      "/conf/tls/gateway.pem":
      .contents(Array("-----BEGIN CERTIFICATE-----\nMII…".utf8), mode: 0o644)
    case "/conf/tls/group-may-write.pem": .contents(key, mode: 0o660)
    case "/conf/two-lines.token": .contents(Array("\(String(repeating: "01234567", count: 5))\nB\n".utf8), mode: 0o600)
    case "/conf/staff.txt":
      .contents(Array("# The office\n002.b\nben@example.com # Ben\n\n@example.net\n".utf8), mode: 0o644)
    case "/conf/domain-members.txt":
      .contents(Array("002.b\nben@example.com\nexample.com\n@example.net\nexample.org\n".utf8), mode: 0o644)
    case "/conf/provider-members.txt": .contents(Array("002.b\n@example.com\n@Outlook.com\n".utf8), mode: 0o644)
    case "/conf/bad-members.txt": .contents(Array("002.b\n\nAda Lovelace\n".utf8), mode: 0o644)
    case "/conf/empty-members.txt": .contents(Array("# nobody yet\n".utf8), mode: 0o644)
    case "/conf/open-members.txt": .contents(Array("002.b\n".utf8), mode: 0o666)
    case "/conf/old-pages/failure.mustache":
      .contents(Array("{{<layout}}{{$content}}<h1>{{heading}}</h1>{{/content}}{{/layout}}".utf8), mode: 0o644)
    case "/conf/folder": .notRegular
    case "/conf/huge": .tooLong
    case "/conf/locked": .unreadable(reason: "Permission denied")
    default: .missing
    }
  }

  static func parse(
    _ text: some Collection<UInt8>, files: FileAccess = Self.files
  ) throws(ConfigurationError) -> Configuration {
    try ConfigurationFile.parse(
      Array(text), name: "gateway.conf", directory: directory, environment: environment, files: files)
  }

  static func check(
    _ text: some Collection<UInt8>, mode: UInt32 = 0o640, files: FileAccess = Self.files
  ) throws(ConfigurationError) -> CheckedConfiguration {
    try ConfigurationFile.check(
      Array(text), mode: mode, name: "gateway.conf", directory: directory, environment: environment, files: files)
  }

  /// The settings, or the complaints, as text.
  static func meaning(of bytes: [UInt8]) -> String {
    do throws(ConfigurationError) {
      let checked = try check(bytes)
      var lines = Dump.lines(of: checked.configuration) + checked.warnings.map(\.description)
      // Where routes say nothing, everything is for those who are signed in.
      if checked.configuration.access != AccessSettings() || !checked.configuration.routes.isEmpty {
        lines += checked.explanations.flatMap { explanation(of: $0) }
      }
      return lines.joined(separator: "\n") + "\n"
    } catch {
      return error.description + "\n"
    }
  }

  /// The explanation of a route, and all warnings. The text begins in line 13.
  static func explanation(of route: Int, in rest: String) throws -> (lines: [String], warnings: [String]) {
    let checked = try check(minimal(rest))
    let explanation = try #require(checked.explanations.dropFirst(route).first)
    return (self.explanation(of: explanation), checked.warnings.map(\.description))
  }

  /// An explanation as lines.
  static func explanation(of route: RouteExplanation) -> [String] {
    var lines = [route.title]
    lines += route.facts.map { "  \($0.name): \($0.text)" }
    for part in route.parts {
      lines.append("  \(part.title)")
      lines += part.facts.map { "    \($0.name): \($0.text)" }
    }
    return lines
  }

  /// A file in which everything required is there, and more lines at the end.
  static func minimal(_ rest: String = "") -> [UInt8] {
    Array(
      """
      public_url = "https://app.example.com"
      [listen]
      address = "127.0.0.1:8080"
      [upstream]
      url = "http://127.0.0.1:3000"
      [apple]
      client_id = "com.example.web"
      team_id = "DEF123GHIJ"
      key_id = "ABC123DEFG"
      private_key_file = "AuthKey_ABC123DEFG.p8"
      [session]
      secret_files = ["session.key"]
      \(rest)
      """.utf8)
  }
}

/// Every stored value of a settings tree, one a line.
enum Dump {
  static func lines(of value: Any) -> [String] {
    var lines: [String] = []
    append(value, "", &lines)
    return lines
  }

  private static func append(_ value: Any, _ path: String, _ lines: inout [String]) {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .struct where !(value is Duration) && !(value is any CustomStringConvertible), .tuple:
      // What is compiled from other settings says nothing of its own.
      for child in mirror.children where child.label != "compiledRoutes" {
        append(child.value, path.isEmpty ? child.label ?? "" : "\(path).\(child.label ?? "")", &lines)
      }
    case .collection:
      if mirror.children.isEmpty { lines.append("\(path) = []") }
      for (index, child) in mirror.children.enumerated() { append(child.value, "\(path)[\(index)]", &lines) }
    case .optional:
      if let child = mirror.children.first { append(child.value, path, &lines) } else { lines.append("\(path) = nil") }
    case .enum where !mirror.children.isEmpty && !(value is any CustomStringConvertible):
      for child in mirror.children { append(child.value, "\(path).\(child.label ?? "")", &lines) }
    default:
      lines.append("\(path) = \(value is String ? TOMLText.quoted(String(describing: value)) : "\(value)")")
    }
  }
}
