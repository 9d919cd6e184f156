import NIOCore
import RandomTesting
import Testing
import WebFormats

@testable import DataPlane

// Cases: network prefixes, addresses, request identifiers.

@Suite("Addresses and identifiers")
struct ValueTests {
  @Test(
    "A prefix contains what its bits say, and IPv4 also in its mapped form",
    arguments: [
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
      ("10.0.0.0/8", "::a00:1", false), ("192.168.1.128/25", "192.168.1.128", true),
      ("192.168.1.128/25", "192.168.1.127", false), ("192.168.1.7", "192.168.1.7", true),
      ("192.168.1.7", "192.168.1.6", false), ("0.0.0.0/0", "255.1.1.1", true), ("0.0.0.0/0", "2001:db8::1", false),
      ("::/0", "2001:db8::1", true), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
      ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false), ("::1", "::1", true),
      ("::1/128", "::2", false),
    ])
  func prefixes(_ block: String, _ address: String, _ expected: Bool) throws {
    let prefix = try #require(NetworkPrefix(block))
    let bytes = try #require(IPAddress(address))
    #expect(prefix.contains(bytes) == expected)
    #expect(prefix.description == block)
  }

  @Test(
    "A text that is not a CIDR block is refused",
    arguments: [
      "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0/8",
      "::/129",
      "fd00::1/8", "localhost", "[::1]", "fe80::1%eth0", "10.0.0.0/８", "10.0.0.0/0008", "10.0.0.0 /8", "010.0.0.1",
      "1.2.3.4.5", "256.0.0.1",
    ])
  func noPrefixes(_ text: String) { #expect(NetworkPrefix(text) == nil) }

  @Test("Addresses are sixteen bytes, IPv4 mapped")
  func addresses() throws {
    let four = try #require(IPAddress("1.2.3.4"))
    #expect(four.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 1, 2, 3, 4] && four.isIPv4)
    #expect(IPAddress("::ffff:1.2.3.4") == four)
    let six = try #require(IPAddress("2001:db8::1"))
    #expect(!six.isIPv4 && six.bytes.first == 0x20 && six.bytes.last == 1)
  }

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

  @Test("An identifier is 32 hexadecimal digits of its numbers")
  func identifiers() {
    var random = SeededNumbers(seed: 4)
    for _ in 0..<2_000 {
      let identifier = RequestIDSource.Identifier(
        high: random.next(), low: random.next() >> UInt64.random(in: 0...63, using: &random))
      let expected = [identifier.high, identifier.low].map { number in
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }
      #expect(identifier.description == expected.joined())
    }
  }

  @Test("A source counts on from its own beginning")
  func source() {
    var one = RequestIDSource()
    var other = RequestIDSource()
    let (first, second) = (one.next(), one.next())
    #expect(first.high == second.high && second.low == first.low + 1)
    #expect(other.next().high != first.high)
  }
}
