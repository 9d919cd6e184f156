import DataPlane
import Testing

@testable import ConfigurationFile

@Suite("Timeouts of one upstream")
struct UpstreamTimeoutTests {
  private func upstreams(_ text: String) throws -> [UpstreamSettings] {
    try Sandbox.parse(
      Sandbox.minimal("[upstream.timeouts]\nconnect = \"2s\"\nfirst_byte = \"2m\"\ntunnel = \"1h\"\n" + text)
    ).upstreams
  }

  @Test("Timeouts and idle connections that an upstream sets are its own, and the rest are those of [upstream]")
  func inheritance() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "own"
      url = "http://127.0.0.1:3001"
      idle_connections = 0
      [upstreams.timeouts]
      connect = "1s"
      first_byte = "10m"
      body_progress = "3s"
      idle = "50s"
      tunnel = "0s"
      [[upstreams]]
      name = "some"
      url = "http://127.0.0.1:3002"
      timeouts = { tunnel = "5m" }
      [[upstreams]]
      name = "none"
      url = "http://127.0.0.1:3003"
      """)
    #expect(found.map(\.name) == ["own", "some", "none"])
    #expect(found.map(\.idleConnectionsPerLoop) == [0, 64, 64])
    var own = UpstreamTimeouts()
    own.connect = .seconds(1)
    own.firstByte = .seconds(600)
    own.bodyProgress = .seconds(3)
    own.idle = .seconds(50)
    own.tunnel = .zero
    var inherited = UpstreamTimeouts()
    inherited.connect = .seconds(2)
    inherited.firstByte = .seconds(120)
    inherited.tunnel = .seconds(3_600)
    var some = inherited
    some.tunnel = .seconds(300)
    #expect(found.map(\.timeouts) == [own, some, inherited])
  }

  @Test("Idle connections are inherited from [upstream], and timeouts also from a table that follows")
  func inheritedConnections() throws {
    let text = String(decoding: Sandbox.minimal(), as: UTF8.self)
      .replacing("[upstream]\n", with: "[upstream]\nidle_connections = 0\n")
    let other = "[[upstreams]]\nname = \"other\"\nurl = \"http://127.0.0.1:3001\"\n"
    #expect(try Sandbox.parse((text + "\n" + other).utf8).upstreams.map(\.idleConnectionsPerLoop) == [0])
    let kept = text + "\n" + other + "idle_connections = 8\n[upstream.timeouts]\ntunnel = \"1h\"\n"
    let configuration = try Sandbox.parse(kept.utf8)
    #expect(configuration.upstream.idleConnectionsPerLoop == 0)
    #expect(configuration.upstreams.map(\.idleConnectionsPerLoop) == [8])
    #expect(configuration.upstreams.map(\.timeouts.tunnel) == [.seconds(3_600)])
  }

  @Test("A table of timeouts without its upstream is refused with the line that is missing")
  func withoutUpstream() {
    let error = #expect(throws: ConfigurationError.self) { try upstreams("[upstreams.timeouts]\ntunnel = \"1h\"\n") }
    #expect(error?.description.contains("write each upstream under a line [[upstreams]]") == true)
  }
}
