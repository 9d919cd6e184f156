import NIOCore
import Testing

@testable import DataPlane

@Suite("The addresses of peers, as text")
struct PeerAddressTests {
  @Test(
    "The address of a peer is written as the system writes it",
    arguments: [
      "0.0.0.0", "7.0.10.100", "127.0.0.1", "203.0.113.99", "255.255.255.255", "::1", "2001:db8::7", "::ffff:10.1.2.3",
    ])
  func peerAddresses(_ text: String) throws {
    #expect(try SocketAddress(ipAddress: text, port: 443).ipText == text)
  }

  @Test("The peer of a Unix socket has no address")
  func unixPeer() throws { #expect(try SocketAddress(unixDomainSocketPath: "/run/app.sock").ipText == nil) }
}
