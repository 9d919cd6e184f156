import AccessPolicy
import DataPlane
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
    #expect(FixedSettings.changes(from: current, to: next) == ["session", "identity", "shutdown"])
    var limited = current
    limited.listener.limits.connectionsPerClient = 7
    #expect(FixedSettings.changes(from: current, to: limited) == ["limits"])
    var other = current
    other.sites = [
      SiteSettings(host: HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com")), pages: .init())
    ]
    other.verify.believe = [.path]
    other.native.acceptsBearer = true
    other.responseHeaders = [ResponseHeader(name: "X-Test", value: "1")]
    #expect(FixedSettings.problems(from: current, to: other).isEmpty)
    #expect(FixedSettings.changes(from: current, to: other) == ["headers", "native", "verify", "host"])
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
}
