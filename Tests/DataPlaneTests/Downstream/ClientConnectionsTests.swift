import Testing

@testable import DataPlane

@Suite("Connections of a client")
struct ClientConnectionsTests {
  private func peer(_ address: String, isTrusted: Bool = false) -> ClientPeer {
    ClientPeer(address: address, isTrusted: isTrusted)
  }

  @Test("A client has as many connections as the limit, each that ends makes room, and nothing is kept of it then")
  func limit() {
    let clients = ClientConnections(limit: 2)
    guard case .counted(let key) = clients.enter(peer("2001:db8::1")),
      case .counted = clients.enter(peer("2001:db8::2"))
    else {
      Issue.record("not counted")
      return
    }
    #expect(clients.enter(peer("2001:db8::3")) == .refused)
    guard case .counted(let other) = clients.enter(peer("192.0.2.1")) else {
      Issue.record("not counted")
      return
    }
    clients.leave(key)
    #expect(clients.enter(peer("2001:db8::3")) == .counted(key))
    for _ in 0..<5 { clients.leave(key) }
    clients.leave(other)
    #expect(clients.clientCount == 0)
  }

  @Test("Trusted proxies and Unix sockets have no limit, nor has anybody while it is 0")
  func exceptions() {
    let clients = ClientConnections(limit: 1)
    for _ in 0..<3 {
      #expect(clients.enter(peer("192.0.2.1", isTrusted: true)) == .uncounted)
      #expect(clients.enter(peer(ClientPeer.unix)) == .uncounted)
    }
    clients.apply(limit: 0)
    for _ in 0..<3 { #expect(clients.enter(peer("192.0.2.1")) == .uncounted) }
    clients.apply(limit: 1)
    #expect(clients.enter(peer("192.0.2.1")) != .refused)
    #expect(clients.enter(peer("192.0.2.1")) == .refused)
  }
}
