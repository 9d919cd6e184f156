import Testing
import WebFormats

@Suite("Sets of networks")
struct NetworkSetTests {
  private static let blocks = [
    "10.0.0.0/8", "10.1.0.0/16", "192.0.2.1", "192.0.2.128/25", "0.0.0.0/0", "::/0", "fd00::/8", "2001:db8::/63",
    "2001:db8::/64", "2001:db8:0:1::/65", "::1", "128.0.0.0/1",
  ]
  private static let addresses = [
    "10.0.0.0", "10.1.255.255", "10.255.0.1", "11.0.0.0", "9.255.255.255", "192.0.2.1", "192.0.2.2", "192.0.2.127",
    "192.0.2.128", "192.0.2.255", "fd00::", "fdff::1", "fe00::", "2001:db8::", "2001:db8:0:1:8000::", "2001:db8:0:1::",
    "2001:db8:0:2::", "::1", "::2", "::", "255.255.255.255", "127.255.255.255", "::ffff:10.0.0.1",
  ]

  @Test("A set contains what any of its networks contains", arguments: blocks)
  func asEach(block: String) throws {
    let first = try #require(NetworkPrefix(block))
    for other in Self.blocks {
      let second = try #require(NetworkPrefix(other))
      let (one, both) = (NetworkSet([first]), NetworkSet([first, second]))
      for text in Self.addresses {
        let address = try #require(IPAddress(text))
        #expect(one.contains(address) == first.contains(address), "\(block) \(text)")
        #expect(both.contains(address) == (first.contains(address) || second.contains(address)), "\(other) \(text)")
      }
    }
  }

  @Test("An empty set contains nothing, and sets of the same networks are equal")
  func equality() throws {
    let address = try #require(IPAddress("10.0.0.1"))
    #expect(!NetworkSet([NetworkPrefix]()).contains(address))
    let wide = try #require(NetworkPrefix("10.0.0.0/8"))
    let narrow = try #require(NetworkPrefix("10.1.0.0/16"))
    #expect(NetworkSet([wide, narrow, wide]) == NetworkSet([narrow, wide]))
    #expect(NetworkSet([wide]) != NetworkSet([narrow]))
  }
}
