import Testing

@testable import DataPlane

@Suite("The settings of an upstream")
struct UpstreamSettingsTests {
  @Test(
    "Browsers keep the session cookies of an application below the prefix that its requests lose",
    arguments: [
      ("sid", "sid; Path=/reports"), ("sid; Path=/app", "sid; Path=/reports/app"),
      ("sid; Path=/reports/app", "sid; Path=/reports/app"), ("sid; Path=/reportsx", "sid; Path=/reports/reportsx"),
      ("sid; Path=/a; Domain=example.com", "sid; Path=/reports/a; Domain=example.com"), ("__Host-sid", "__Host-sid"),
      ("__host-sid", "__host-sid"),
    ])
  func cookiesOfClients(_ configured: String, _ kept: String) throws {
    var settings = UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false))
    settings.cookies.cookies = [try #require(EndCookie(configured))]
    #expect(settings.cookiesOfClients.map(\.description) == [configured])
    settings.strippedPrefix = "/reports"
    #expect(settings.cookiesOfClients.map(\.description) == [kept])
  }

  @Test("A session cookie is deleted with its Path and Domain, and with Secure where browsers want it")
  func deletion() throws {
    for (configured, isSecure, deletion) in [
      ("sid", false, "sid=; Path=/; HttpOnly; Max-Age=0"), ("sid", true, "sid=; Path=/; Secure; HttpOnly; Max-Age=0"),
      ("__Host-sid", false, "__Host-sid=; Path=/; Secure; HttpOnly; Max-Age=0"),
      ("__secure-sid", false, "__secure-sid=; Path=/; Secure; HttpOnly; Max-Age=0"),
      ("__Hostsid", false, "__Hostsid=; Path=/; HttpOnly; Max-Age=0"),
      ("sid; domain=example.com;PATH = /a", false, "sid=; Path=/a; Domain=example.com; HttpOnly; Max-Age=0"),
    ] {
      let cookie = try #require(EndCookie(configured))
      #expect(cookie.deletion(isSecure: isSecure) == deletion, "\(configured)")
    }
  }

  @Test("The name of a session cookie is a token of at most 128 bytes, and its attributes are Path and Domain")
  func malformedCookies() {
    let long = String(repeating: "a", count: 128)
    #expect(EndCookie(long)?.name == long)
    for text in [
      "", " ", ";", long + "a", "a b", "a=b", "s\u{E9}d", "sid;", "sid; Secure", "sid; Path", "sid; Path=",
      "sid; Path=a", "sid; Path=/a,b", "sid; Path=/a b", "sid; Domain=", "sid; Max-Age=1",
    ] {
      #expect(EndCookie(text) == nil, "\(text)")
    }
  }

  @Test("Session cookies of an application with a Host of its own are deleted without their Domain as well")
  func cookiesWithDomain() throws {
    var settings = UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false))
    settings.cookies.cookies = [
      try #require(EndCookie("sid; Path=/a; Domain=app.internal")), try #require(EndCookie("other")),
    ]
    #expect(settings.cookiesOfClients == settings.cookies.cookies)
    settings.host = "app.internal"
    #expect(
      settings.cookiesOfClients.map(\.description) == ["sid; Path=/a; Domain=app.internal", "sid; Path=/a", "other"])
  }

  @Test("A group that takes the place of another one knows which of the same addresses speak HTTP/1.0")
  func learned() throws {
    func address(_ port: UInt16) -> UpstreamAddress { .tcp(host: "127.0.0.1", port: port, tls: false) }
    var settings = UpstreamSettings(address: address(9))
    settings.addresses.append(address(10))
    let known = try UpstreamGroup(settings)
    known.endpoints[1].learnHTTP10()
    settings.addresses = [address(10), address(11), address(9)]
    let next = try UpstreamGroup(settings)
    next.learn(from: known)
    next.learn(from: try UpstreamGroup(settings))
    #expect(next.endpoints.map(\.isHTTP10) == [true, false, false])
  }
}
