import AccessPolicy
import AppleIdentity
import DataPlane
import Foundation
import IdentityAssertion
import Operations
import Pages
import Sessions
import Testing

@testable import ConfigurationFile

@Suite("The reference and the sample")
struct ReferenceTests {
  private static let sampleFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("gateway.conf.sample")

  private static let referenceFile = sampleFile.deletingLastPathComponent()
    .appendingPathComponent("Documentation/CONFIGURATION.md")

  @Test("Documentation/CONFIGURATION.md is what the declarations say")
  func referenceIsCurrent() throws {
    #expect(try String(contentsOf: Self.referenceFile, encoding: .utf8) == Reference.text())
  }

  @Test("The rules that Documentation/ACCESS.md begins with are explained there as cordon check --explain does")
  func explanationIsCurrent() throws {
    let page = try String(
      contentsOf: Self.referenceFile.deletingLastPathComponent().appendingPathComponent("ACCESS.md"), encoding: .utf8)
    let blocks = page.components(separatedBy: "```")
    let rules = try #require(blocks.first(where: { $0.hasPrefix("toml\n") })).dropFirst("toml\n".count)
    let shown = try #require(blocks.first(where: { $0.hasPrefix("\n/") }))
    // The page says that they begin in line 24. The lines of `Sandbox` before them are 12.
    let file = Sandbox.minimal(String(repeating: "\n", count: 11) + String(rules))
    let checked = try Sandbox.check(file)
    let lines = checked.explanations.flatMap { route -> [String] in
      [route.title] + route.facts.map { $0.name + $0.text }
        + route.parts.flatMap { part -> [String] in [part.title] + part.facts.map { $0.name + $0.text } }
    }
    // The command aligns the texts in columns.
    func joined(_ line: String) -> String { line.filter { $0 != " " } }
    let shownLines = shown.split(separator: "\n").map { joined(String($0)) }
    #expect(shownLines == lines.map(joined))
    #expect(page.contains("`[access]` is in line 24"))
  }

  @Test("No line of the reference is longer than 80 columns, but headings and what cannot be broken")
  func referenceWidth() {
    for line in Reference.text().split(separator: "\n") where line.count > 80 && !line.hasPrefix("#") {
      // One value, with what stands before it.
      #expect(line.contains(/^( *|- [^`]*: )`[^`]*`[.,]?$/) || !line.contains(" "), "\(line)")
    }
  }

  @Test("Prose is broken neither within code nor before what would begin a list or a heading")
  func prose() {
    let text = "Register public_url + path_prefix as `return URL of` the # 1. - Services"
    #expect(
      Prose.wrap(text, width: 24, prefix: "")
        == "Register public_url +\npath_prefix as\n`return URL of`\nthe # 1. - Services")
    #expect(Prose.wrap("Register public_url + path", width: 20, prefix: "") == "Register\npublic_url + path")
    #expect(Prose.wrap("### `a`: list of words", width: 8, prefix: "") == "### `a`: list of words")
    #expect(Prose.wrap("- Default: `[1, 2]`", width: 12, prefix: "") == "- Default:\n  `[1, 2]`")
  }

  @Test("The reference has the plural of each type")
  func plurals() {
    let text = Reference.text()
    for plural in ["list of addresses", "list of kinds of data", "list of names", "list of \"h2\" or \"http/1.1\"\n"] {
      #expect(text.contains(plural), "\(plural)")
    }
    #expect(text.contains("list of tables of certificate_file and private_key_file\n"))
    #expect(!text.contains("addresss") && !text.contains("datas"))
  }

  @Test("gateway.conf.sample is what the declarations say")
  func sampleIsCurrent() throws {
    if ProcessInfo.processInfo.environment["CORDON_UPDATE_GOLDEN"] == "1" {
      try Data(SampleFile.text().utf8).write(to: Self.sampleFile)
    }
    #expect(try String(contentsOf: Self.sampleFile, encoding: .utf8) == SampleFile.text())
  }

  @Test("The sample is in order, and means every default")
  func sampleMeansDefaults() throws {
    let sample = try Sandbox.parse(SampleFile.text().utf8)
    let minimal = try Sandbox.parse(Sandbox.minimal())
    #expect(sample.identityHeaders == minimal.identityHeaders)
    #expect(sample.listener.limits == minimal.listener.limits)
    #expect(sample.routes.isEmpty)
    #expect(sample.summary.count >= 10)
  }

  @Test("With every comment taken away, the sample is still in order, but for what needs a decision")
  func sampleUncommented() throws {
    // A commented-out setting is `#` right before a key or a table; prose has a space after it.
    let lines = SampleFile.text().split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix("#") && !line.hasPrefix("# ") && line.count > 1 ? String(line.dropFirst()) : String(line)
    }
    // An upstream has one address or several.
    let list = try #require(lines.firstIndex { $0.hasPrefix("urls = [\"http://10.0.0.1") })
    // And a button one shape.
    // The routes of the sample are outside of the prefix of its upstream.
    let ofOtherShapes = ["strip_prefix = ", "label_position = ", "logo_position = ", "logo_size = ", "size = "]
    // With TLS settings, its address is https:.
    let chosen = (lines[..<list] + lines[(list + 1)...])
      .filter { line in !ofOtherShapes.contains(where: line.hasPrefix) }
      .map { $0 == "url = \"http://127.0.0.1:3000\"" ? "url = \"https://127.0.0.1:3000\"" : $0 }
    let configuration = try Sandbox.parse(chosen.joined(separator: "\n").utf8)
    #expect(configuration.routes.count == 7 && configuration.compiledRoutes != nil)
    #expect(configuration.groups.map(\.name) == ["staff"] && configuration.membersInFiles == [3])
    #expect(configuration.routes[4].methods == ["GET", "POST"] && configuration.routes[4].maxAge == 12 * 3_600)
    #expect(configuration.upstreams.map(\.name) == ["reports"] && configuration.routes[2].upstream == "reports")
    #expect(configuration.hosts.map(\.host.origin.authority) == ["wiki.example.com"])
    #expect(configuration.routes[5].host == .named("wiki.example.com"))
    #expect(configuration.upstream.check == UpstreamCheckSettings(path: "/health"))
    #expect(configuration.listener.main.tls?.certificates.count == 1)
    #expect(configuration.listener.main.tls?.clients?.areRequired == true)
    #expect(configuration.listener.others.map(\.name) == ["internal"])
    #expect(configuration.upstream.tls.certificate != nil && configuration.upstream.tls.serverName == "app.internal")
    #expect(configuration.admin.tokenFile == "/conf/admin.token")
    #expect(configuration.pages.applicationName == "Example Orders")
    #expect(configuration.assertion.keyFiles == ["/conf/assertion.pem"] && configuration.assertion.audience == "orders")
    #expect(configuration.notificationRelay?.description == "http://127.0.0.1:3000/hooks/apple")
    // What was commented out as a default is the default.
    let minimal = try Sandbox.parse(Sandbox.minimal())
    #expect(configuration.listener.timeouts == minimal.listener.timeouts)
    #expect(configuration.upstream.timeouts == minimal.upstream.timeouts)
    #expect(configuration.revalidation == minimal.revalidation)
    #expect(configuration.session == minimal.session)
    #expect(configuration.store == minimal.store)
    #expect(configuration.identityHeaders.upstreams.map(\.upstream) == ["default"])
    var identity = configuration.identityHeaders
    identity.upstreams = []
    #expect(identity == minimal.identityHeaders)
    var log = minimal.log
    log.accessFields = [.request, .method, .path, .status, .duration, .userAgent]
    log.auditEvents = [.signIn, .signInFailed, .administration]
    #expect(configuration.log == log)
    var apple = minimal.apple
    apple.authorityFile = "/conf/tls/egress-ca.pem"
    #expect(configuration.apple == apple)
    #expect(configuration.appleProxy == ConnectProxy(host: "proxy", port: 3128))
  }

  @Test("Every key is in the sample and in the reference", arguments: ConfigurationSchema.descriptions.map(\.key))
  func everyKey(key: String) throws {
    let entry = try #require(ConfigurationSchema.descriptions.first { $0.key == key })
    #expect(Reference.text().contains("### `\(key)`: \(entry.typeName)"))
    if key == "headers" {
      #expect(SampleFile.text().contains("#[headers]\n#Strict-Transport-Security"))
    } else if key == "identity.headers" {
      #expect(SampleFile.text().contains("#[identity.headers]\n#X-Forwarded-User"))
    } else if ["route.", "upstreams.", "listener.", "group.", "host."].contains(where: key.hasPrefix) {
      #expect(SampleFile.text().contains("\n#   \(entry.name)\n"))
    } else {
      let isRequired = if case .required = entry.presence { true } else { false }
      #expect(SampleFile.text().contains("\n\(isRequired ? "" : "#")\(entry.name) = "))
    }
  }

  @Test("Every entry is explained, and refers only to keys that there are")
  func explained() {
    let keys = Set(ConfigurationSchema.descriptions.map(\.key))
    #expect(keys.count == ConfigurationSchema.descriptions.count, "a key is declared twice")
    for entry in ConfigurationSchema.descriptions {
      #expect(entry.purpose.hasSuffix(".") && entry.purpose.count > 20, "\(entry.key)")
      #expect(entry.seeAlso.allSatisfy(keys.contains), "\(entry.key)")
      #expect(!entry.seeAlso.contains(entry.key), "\(entry.key)")
      if case .optional = entry.presence { #expect(entry.omission != nil, "\(entry.key)") }
    }
  }

  @Test("The lines of the sample fit on a screen")
  func width() {
    for line in SampleFile.text().split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
  }
}
