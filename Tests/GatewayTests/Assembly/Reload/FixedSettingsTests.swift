import AccessPolicy
import AppleIdentity
import DataPlane
import Foundation
import IdentityAssertion
import Operations
import Pages
import Sessions
import Testing

@testable import Gateway

@Suite("The settings that a reload may change")
struct FixedSettingsTests {
  @Test("A reload refuses by name the settings that are bound or opened with the process, and no others")
  func fixed() throws {
    let current = try GatewaySettings.forTests()
    var next = current
    next.identity.headers = []
    next.session.idleTimeout = .seconds(60)
    next.drain.delay = .seconds(5)
    #expect(FixedSettings.problems(from: current, to: next).isEmpty)
    #expect(current.changes(to: next) == ["session", "identity", "shutdown"])
    var limited = current
    limited.listener.limits.connectionsPerClient = 7
    #expect(current.changes(to: limited) == ["limits"])
    var other = current
    other.routing.sites = [
      SiteSettings(host: HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com")), pages: .init())
    ]
    other.verify.believe = [.path]
    other.native.acceptsBearer = true
    other.responseHeaders = [ResponseHeader(name: "X-Test", value: "1")]
    #expect(FixedSettings.problems(from: current, to: other).isEmpty)
    #expect(current.changes(to: other) == ["headers", "native", "verify", "host"])
    next.listener.main.address = .unix(path: "/run/x")
    next.adminAddress = .ip(host: "127.0.0.1", port: 1)
    next.workers = 7
    next.store.location = .sqlite(path: "/elsewhere")
    next.session.cookies = try CookieNames(session: "__Host-second")
    next.listener.main.tls = .init(certificates: [.init(certificateFile: "/c", privateKeyFile: "/k")])
    let problems = FixedSettings.problems(from: current, to: next)
    let keys = [
      "listen.address", "admin.address", "listen.workers", "store.url", "listen.tls_certificate_file",
      "session.cookie_name",
    ]
    #expect(problems.count == keys.count, "\(problems)")
    for key in keys { #expect(problems.contains { $0.hasPrefix(key) && $0.contains("restart") }, "\(key)") }
  }

  @Test("A Unix socket's permission is not exchanged for a token, nor a token for a permission that nobody set")
  func socket() throws {
    var current = try GatewaySettings.forTests()
    current.adminAddress = .unix(path: "/run/admin.sock")
    var next = current
    next.admin.tokenFile = "/token"
    #expect(FixedSettings.problems(from: current, to: next).count == 1)
    #expect(FixedSettings.problems(from: next, to: current).count == 1)
  }

  /// A change of the settings.
  struct Change: Sendable, CustomTestStringConvertible {
    /// The stored property that it changes.
    let property: String
    /// The table of the configuration, or the key at its top.
    let table: String
    /// The name in the list of changes.
    let name: String
    /// The key that is refused; nil if the change is applied.
    let refused: String?
    /// Makes the settings that are to be changed of ``FixedSettingsTests/current()``.
    let prepare: @Sendable (inout GatewaySettings) throws -> Void
    let apply: @Sendable (inout GatewaySettings) throws -> Void

    init(
      _ property: String, in table: String, as name: String? = nil, refused: String? = nil,
      after prepare: @escaping @Sendable (inout GatewaySettings) throws -> Void = { _ in },
      apply: @escaping @Sendable (inout GatewaySettings) throws -> Void
    ) {
      self.property = property
      self.table = table
      self.name = name ?? table
      self.refused = refused
      self.prepare = prepare
      self.apply = apply
    }

    var testDescription: String { refused ?? "\(property) in \(table)" }
  }

  /// At least one for each stored property, for each table, and for each key that is refused.
  static let changes: [Change] = [
    Change(
      "origin", in: "public_url",
      apply: { $0.publicAddress.origin = try PublicOrigin(parsing: "https://other.example.com") }),
    Change("prefix", in: "path_prefix", apply: { $0.publicAddress.prefix = "/other" }),
    Change("hosts", in: "listen", apply: { $0.publicAddress.hosts = ["other.example.com"] }),
    Change("workers", in: "listen", refused: "listen.workers", apply: { $0.workers = 7 }),
    Change(
      "listener", in: "listen", refused: "listen.address", apply: { $0.listener.main.address = .unix(path: "/run/x") }),
    Change(
      "listener", in: "listen", refused: "listen.tls_certificate_file",
      apply: {
        $0.listener.main.tls = .init(certificates: [.init(certificateFile: "/c", privateKeyFile: "/k")])
      }),
    Change("listener", in: "listen", apply: { $0.listener.timeouts.idle = .seconds(1) }),
    Change("listener", in: "limits", apply: { $0.listener.limits.connectionsPerClient = 7 }),
    Change("listener", in: "listener", refused: "listener", apply: { $0.listener.others = [] }),
    Change("listener", in: "listener", as: "listen", apply: { $0.listener.others[0].protocols = [.http1] }),
    Change("signInRate", in: "limits", apply: { $0.signInRate = SignInRate(count: 1, period: .hour) }),
    Change("adminAddress", in: "admin", refused: "admin.address", apply: { $0.adminAddress = .unix(path: "/run/x") }),
    Change("admin", in: "admin", apply: { $0.admin.tokenFile = "/token" }),
    Change(
      "admin", in: "admin", refused: "admin.token_file", after: { $0.adminAddress = .unix(path: "/run/x") },
      apply: { $0.admin.tokenFile = "/token" }),
    Change("responseHeaders", in: "headers", apply: { $0.responseHeaders = [ResponseHeader(name: "X", value: "1")] }),
    Change("main", in: "upstream", apply: { $0.upstreams.main.strippedPrefix = "/app" }),
    Change(
      "named", in: "upstreams", as: "upstream", apply: { $0.upstreams.named[0].strippedPrefix = "/app" }),
    Change("apple", in: "apple", apply: { $0.apple.keyID = "XYZ123DEFG" }),
    Change("appleProxy", in: "apple", apply: { $0.appleProxy = ConnectProxy(host: "proxy", port: 3128) }),
    Change("session", in: "session", apply: { $0.session.idleTimeout = .seconds(60) }),
    Change(
      "session", in: "session", refused: "session.cookie_name",
      apply: { $0.session.cookies = try CookieNames(session: "__Host-second") }),
    Change("revalidation", in: "revalidation", apply: { $0.revalidation.grace = .zero }),
    Change("store", in: "store", apply: { $0.store.outageGrace = .zero }),
    Change("store", in: "store", refused: "store.url", apply: { $0.store.location = .sqlite(path: "/elsewhere") }),
    Change("store", in: "store", refused: "store.connections", apply: { $0.store.connections = 1 }),
    Change("store", in: "store", refused: "store.notify", apply: { $0.store.notifies = false }),
    Change("identity", in: "identity", apply: { $0.identity.headers = [] }),
    Change("assertion", in: "assertion", apply: { $0.assertion.sendsHeader = false }),
    Change(
      "notificationRelay", in: "notifications",
      apply: {
        $0.notificationRelay = EndpointAddress(
          address: .tcp(host: "127.0.0.1", port: 1, tls: false), authority: "127.0.0.1:1", path: "/apple")
      }),
    Change("native", in: "native", apply: { $0.native.acceptsBearer = true }),
    Change("verify", in: "verify", apply: { $0.verify.believe = [.path] }),
    Change("access", in: "access", apply: { $0.routing.access.requests = true }),
    Change("groups", in: "group", apply: { $0.routing.groups = [GroupConfiguration(name: "staff")] }),
    Change(
      "sites", in: "host",
      apply: {
        let host = HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com"))
        $0.routing.sites = [SiteSettings(host: host, pages: PageSettings())]
      }),
    Change("routes", in: "route", apply: { $0.routing.routes = [RouteSettings(path: "/open/", access: .public)] }),
    Change("pages", in: "pages", apply: { $0.pages.applicationName = "Orchard" }),
    Change("button", in: "pages", apply: { $0.button.border = true }),
    Change("log", in: "log", apply: { $0.log.accessLog = true }),
    Change("drain", in: "shutdown", apply: { $0.drain.delay = .seconds(5) }),
  ]

  /// Settings with an element of each repeatable table that has keys of both kinds.
  private static func current() throws -> GatewaySettings {
    var settings = try GatewaySettings.forTests()
    settings.listener.others = [AcceptorSettings(name: "internal", address: .ip(host: "127.0.0.1", port: 1))]
    settings.upstreams.named = [
      UpstreamSettings(name: "reports", addresses: [.tcp(host: "127.0.0.1", port: 2, tls: false)])
    ]
    return settings
  }

  @Test("A change of any setting is reported by its table, or refused by its key", arguments: changes)
  func everyChange(change: Change) throws {
    var current = try Self.current()
    try change.prepare(&current)
    var next = current
    #expect(current.changes(to: next) == [])
    try change.apply(&next)
    let problems = FixedSettings.problems(from: current, to: next)
    if let key = change.refused {
      #expect(problems.count == 1 && problems[0].hasPrefix("\(key) cannot change while the gateway runs ("))
    } else {
      #expect(problems == [])
      #expect(current.changes(to: next) == [change.name])
    }
  }

  @Test("No stored property of the settings and no table of the configuration is without a change that is tested")
  func everySetting() throws {
    let properties = Self.properties(of: try Self.current())
    // The table of routes is compiled from other settings.
    #expect(Set(Self.changes.map(\.property)) == Set(properties).subtracting(["table"]))
    let keys = try Self.page("CONFIGURATION.md").matches(of: /(?m)^### `([a-z_.]+)`/).map { String($0.1) }
    #expect(keys.count > 100)
    #expect(Set(Self.changes.map(\.table)) == Set(keys.map { key in String(key.prefix { $0 != "." }) }))
  }

  /// The stored properties of the settings, and those of the groups among them instead of these.
  private static func properties(of settings: Any) -> [String] {
    Mirror(reflecting: settings).children.flatMap { property -> [String] in
      switch property.value {
      case is OriginSettings, is UpstreamTables, is RoutingSettings: properties(of: property.value)
      default: property.label.map { [$0] } ?? []
      }
    }
  }

  @Test("The keys that a reload refuses are those that the guides list")
  func everyRefusal() throws {
    let refused = Set(FixedSettings.keys.map(\.name))
    #expect(Set(Self.changes.compactMap(\.refused)) == refused)
    let chapter = try #require(
      try Self.page("OPERATING.md").components(separatedBy: "\n## ").first { $0.hasPrefix("Configuration reload\n") })
    var listed: Set<String> = []
    for row in chapter.matches(of: /(?m)^\| ([^|]+) \| ([^|]+) \|$/)
    where row.2.hasPrefix("refused") || row.2.hasSuffix("is refused") {
      listed.formUnion(row.1.matches(of: /`\[*([a-z_.]+)\]*`/).map { String($0.1) })
    }
    #expect(listed == refused)
    // The sentence is wrapped. Of three keys only some changes are refused.
    let reference = try Self.page("CONFIGURATION.md").replacing(/\s+/, with: " ")
    let documented = reference.components(separatedBy: " ### `").dropFirst()
      .filter { $0.contains("cannot change while the gateway runs") }.map { key in String(key.prefix { $0 != "`" }) }
    #expect(Set(documented) == refused.subtracting(["listener", "listen.tls_certificate_file", "admin.token_file"]))
  }

  /// The text of a guide.
  private static func page(_ name: String) throws -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(
      contentsOf: tests.deletingLastPathComponent().appending(path: "Documentation/\(name)"), encoding: .utf8)
  }
}
