import Testing
import WebFormats

@Suite("Networks in CIDR notation")
struct NetworkPrefixTests {
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
    "A block includes smaller ones, and not itself",
    arguments: [
      ("10.0.0.0/8", "10.5.0.0/16", true), ("10.4.0.0/15", "10.5.0.0/16", true), ("10.6.0.0/15", "10.5.0.0/16", false),
      ("10.5.0.0/16", "10.5.0.0/16", false), ("10.5.0.0/16", "10.0.0.0/8", false), ("10.5.0.0/16", "10.5.0.1", true),
      ("fd00::/8", "fd00:1::/32", true), ("fd00::/8", "10.5.0.0/16", false), ("0.0.0.0/0", "10.0.0.0/8", true),
    ])
  func includes(_ block: String, _ other: String, _ expected: Bool) throws {
    #expect(try #require(NetworkPrefix(block)).includes(try #require(NetworkPrefix(other))) == expected)
  }

  @Test("A block of loopback addresses is told from others, and from larger ones")
  func loopback() throws {
    for (block, expected) in [
      ("127.0.0.0/8", true), ("127.0.0.1", true), ("::1", true), ("126.0.0.0/7", false), ("::/127", false),
      ("10.0.0.0/8", false),
    ] {
      #expect(try #require(NetworkPrefix(block)).isLoopback == expected, "\(block)")
    }
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
}
