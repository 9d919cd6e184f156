import Foundation
import TemporaryDirectoryTesting
import Testing

// The sources of a configuration of oauth2-proxy: files, environment variables and arguments.
//
// - Configurations in the manner of those that are published become what is recorded.
// - Arguments take precedence over the environment, and the environment over the file.
// - A source that cannot be read is refused, because a restriction may be in it.

@SystemActor
@Suite("The sources of cordon import")
struct ImportSourceTests {
  private let folder: ImportFolder

  init() throws { folder = try ImportFolder() }

  private nonisolated static let recordings = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "Import")
  private nonisolated static let golden = ["alpha", "arguments", "compose", "ingress", "keycloak", "layers", "systemd"]

  /// Configurations in the manner of those that are published with applications, and what becomes of them.
  @Test("A configuration of a usual kind becomes what is recorded, and the result is valid", arguments: golden)
  func recorded(name: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: Self.recordings.path)
    where file.hasPrefix(name + ".") && !file.hasSuffix(".expected") {
      let text = try String(contentsOf: Self.recordings.appending(path: file), encoding: .utf8)
      try folder.directory.write(text, to: file)
    }
    func have(_ ending: String) -> Bool {
      FileManager.default.fileExists(atPath: "\(folder.directory.path)/\(name).\(ending)")
    }
    var arguments: [String] = []
    if have("cfg") { arguments.append("\(name).cfg") }
    if have("env") { arguments += ["--env", "\(name).env"] }
    if have("args") {
      arguments += ["--args", try String(contentsOfFile: "\(folder.directory.path)/\(name).args", encoding: .utf8)]
    }
    let made = try folder.run(arguments)
    #expect(made.exit == .code(0), "\(made.standardError)")
    let found = made.standardOutput + "\n----\n" + made.standardError
    let file = Self.recordings.appending(path: "\(name).expected")
    if ProcessInfo.processInfo.environment["CORDON_UPDATE_GOLDEN"] == "1" {
      try Data(found.utf8).write(to: file)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == found)
    try folder.check(made.standardOutput)
  }

  @Test("Arguments take precedence over the environment, and the environment over the file")
  func precedence() throws {
    try folder.directory.write(
      "email_domains = [\"*\"]\ncookie_expire = \"1h\"\nproxy_prefix = \"/a\"\n", to: "oauth2-proxy.cfg")
    try folder.directory.write(
      "OTHER=x\nOAUTH2_PROXY_EMAIL_DOMAINS=example.org\nexport OAUTH2_PROXY_COOKIE_EXPIRE='2h'\n", to: "proxy.env")
    let made = try folder.run([
      "oauth2-proxy.cfg", "--env", "proxy.env", "--args",
      "oauth2-proxy --email-domain=example.com --email-domain 'example.net' -reverse-proxy --no-such-option x",
    ])
    #expect(made.exit == .code(0))
    #expect(made.standardOutput.contains("allow_email_domains = [\"example.com\", \"example.net\"]"))
    #expect(made.standardOutput.contains("lifetime = \"2h\""))
    #expect(made.standardOutput.contains("path_prefix = \"/a\""))
    #expect(made.standardError.contains("--reverse-proxy: reverse_proxy: LEFT"), "\(made.standardError)")
    #expect(made.standardError.contains("--no-such-option: no_such_option: LEFT"), "\(made.standardError)")
    #expect(made.standardError.contains("/a/sign_in"), "\(made.standardError)")
    try folder.check(made.standardOutput)
  }

  @Test(
    "An environment or arguments that cannot be read are refused, because a restriction may be in them",
    arguments: [
      ["--env", "bad.env"], ["--args", "--email-domain=example.com 'x"], ["--args", "--email-domain"],
      ["--args", "oauth2-proxy example.com"],
    ])
  func unreadable(arguments: [String]) throws {
    try folder.directory.write("OAUTH2_PROXY_PROVIDER=oidc\nwhat is this\n", to: "bad.env")
    let made = try folder.run(arguments)
    #expect(made.exit == .code(65), "\(made)")
    #expect(made.standardOutput.isEmpty)
  }

  @Test("Each value of a repeated argument counts, also where files have the same name for it")
  func repeatedArgument() throws {
    let made = try folder.run(["--args", "--email-domain=* --skip-auth-regex=^/a/ --skip-auth-regex=^/b/"])
    for path in ["/a/", "/b/"] {
      #expect(made.standardOutput.contains("path = \"\(path)\"\naccess = \"public\""), "\(made.standardOutput)")
    }
  }

  @Test(
    "An alpha configuration, which is YAML, is refused with what to do, by its name or its contents",
    arguments: [
      ("alpha.yaml", "providers:\n  - id: apple\n"), ("values.yml", "config:\n  clientID: x\n"),
      ("alpha", "# core\nupstreamConfig:\n  upstreams: []\n"),
    ])
  func alphaConfiguration(name: String, contents: String) throws {
    try folder.directory.write(contents, to: name)
    let made = try folder.run([name])
    #expect(made.exit == .code(65))
    #expect(made.standardOutput.isEmpty)
    #expect(made.standardError.contains("\(name): this is YAML"), "\(made.standardError)")
    #expect(made.standardError.contains("Documentation/MIGRATING.md"), "\(made.standardError)")
  }

  @Test(
    "The configuration of another program is told apart, and its section of the documentation is named",
    arguments: [
      ("openidc.conf", "# Apple\nOIDCClientID com.example.web\n", "Apache", "From mod_auth_openidc"),
      ("site.conf", "<VirtualHost *:443>\n  oidcclientid x\n</VirtualHost>\n", "Apache", "From mod_auth_openidc"),
      ("nginx.conf", "server {\r\n  auth_request /oauth2/auth;\r\n}\r\n", "nginx", "External authorization"),
      ("pomerium.cfg", "---\nauthenticate_service_url: https://a.example\n", "Pomerium", "From Pomerium"),
      ("alpha.cfg", "\u{FEFF}upstream-config: x\n", "YAML", "From oauth2-proxy"),
      ("config.json", "{\n  \"providers\": []\n}\n", "JSON", "MIGRATING.md"),
    ])
  func foreignFormats(name: String, contents: String, program: String, section: String) throws {
    try folder.directory.write(contents, to: name)
    let made = try folder.run([name])
    #expect(made.exit == .code(65) && made.standardOutput.isEmpty)
    #expect(made.standardError.contains("\(name): this is \(program)"), "\(made.standardError)")
    #expect(made.standardError.contains(section), "\(made.standardError)")
    let pages = try ["MIGRATING.md", "OPERATING.md"].map { page in
      try String(contentsOf: Machine.packageRoot.appending(path: "Documentation/\(page)"), encoding: .utf8)
    }
    #expect(section.hasSuffix(".md") || pages.contains { $0.contains("\n## \(section)") }, "\(section)")
  }

  @Test("Cordon's own configuration is refused, not translated into one that denies everything")
  func ownConfiguration() throws {
    let translated = try folder.translate("client_id = \"com.example.web\"\nemail_domains = [\"example.com\"]\n")
    #expect(translated.exit == .code(0))
    try folder.directory.write(translated.configuration, to: "my gateway.conf")
    let made = try folder.run(["my gateway.conf", "--output", "new.conf"])
    #expect(made.exit == .code(65) && made.standardOutput.isEmpty)
    #expect(made.standardError.contains("my gateway.conf: this is Cordon's own configuration"), "\(made.standardError)")
    #expect(made.standardError.contains("`cordon check --config \"my gateway.conf\"`"), "\(made.standardError)")
    #expect(!FileManager.default.fileExists(atPath: "\(folder.directory.path)/new.conf"))
    let sample = try folder.run([Machine.packageRoot.appending(path: "gateway.conf.sample").path])
    #expect(sample.exit == .code(65), "\(sample.standardError)")
  }

  @Test("A mistake in oauth2-proxy's own file is told by its place, not taken for another program's")
  func ownMistakes() throws {
    for line in [
      "email_domains [\"example.com\"]", "oidc_issuer_url \"https://appleid.apple.com\"", "<b>Staff only</b>",
      "require a sign-in", "server {",
    ] {
      let made = try folder.translate("client_id = \"x\"\n\(line)\n")
      #expect(made.exit == .code(65) && made.notes.contains("oauth2-proxy.cfg:2:"), "\(made.notes)")
    }
  }

  @Test("An empty file name, as of a variable that is not set, is reported as one")
  func emptyNames() throws {
    for arguments in [[""], ["--env", ""]] {
      let made = try folder.run(arguments)
      #expect(made.exit == .code(65), "\(arguments)")
      #expect(made.standardError.contains("cordon import: the name of the file is empty"), "\(made.standardError)")
    }
  }

  @Test("A file that is not TOML is refused with its place, and an existing file is not overwritten")
  func refusals() throws {
    let refused = try folder.translate("upstreams = [\n")
    #expect(refused.exit == .code(65))
    #expect(refused.configuration.isEmpty)
    #expect(refused.notes.contains("oauth2-proxy.cfg:"))

    try folder.directory.write("mine", to: "gateway.conf")
    try folder.directory.write("", to: "oauth2-proxy.cfg")
    let result = try folder.run(["oauth2-proxy.cfg", "--output", "gateway.conf"])
    #expect(result.exit == .code(73))
    #expect(result.standardError.contains("gateway.conf: there is a file already"), "\(result.standardError)")
    #expect(try String(contentsOfFile: "\(folder.directory.path)/gateway.conf", encoding: .utf8) == "mine")
  }
}
