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
