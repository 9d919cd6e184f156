import Testing
import WebFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("IP addresses")
struct IPAddressTests {
  private func system(_ family: Int32, _ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }

  @Test("Addresses are sixteen bytes, IPv4 mapped")
  func addresses() throws {
    let four = try #require(IPAddress("1.2.3.4"))
    #expect(four.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 1, 2, 3, 4] && four.isIPv4)
    #expect(IPAddress("::ffff:1.2.3.4") == four)
    let six = try #require(IPAddress("2001:db8::1"))
    #expect(!six.isIPv4 && six.bytes.first == 0x20 && six.bytes.last == 1)
  }

  @Test("Addresses are written as the system writes them, and read back")
  func written() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      // Many zeros, so that there is something to shorten.
      let groups = (0..<8).map { _ in
        Bool.random(using: &random)
          ? UInt16(0) : UInt16.random(in: 0...0xFFFF >> UInt16.random(in: 0...15, using: &random), using: &random)
      }
      let bytes = groups.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
      guard let address = IPAddress(bytes: bytes), !address.isIPv4 else { continue }
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      _ = inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
      let expected = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      #expect(address.description == expected)
      #expect(IPAddress(expected) == address)
    }
    #expect(IPAddress("192.0.2.7")?.description == "192.0.2.7")
    #expect(IPAddress("::ffff:192.0.2.7") == IPAddress("192.0.2.7"))
  }

  @Test(
    "Text is an address exactly where it is one to the system",
    arguments: [
      "1.2.3.4", "255.255.255.255", "0.0.0.0", "256.0.0.1", "01.2.3.4", "1.2.3", "1.2.3.4.5", "1..3.4", "1.2.3.4 ", "",
      "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::8", "1:2:3:4:5:6:7", ":1::2",
      "1::2::3", ":::", "1:::2", "12345::", "g::", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "::1.2.3", "1.2.3.4::",
      "::ffff:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1:", ":1", ":", "[::1]", "::1%lo", "0:0:0:0:0:0:0:0:0",
    ])
  func read(text: String) {
    #expect(IPAddress(v4: text.utf8)?.bytes.suffix(4) == system(AF_INET, text)?[...])
    #expect(IPAddress(v6: text.utf8)?.bytes == system(AF_INET6, text))
  }

  @Test("Loopback and unspecified addresses are known in both families")
  func kinds() throws {
    let loopback = ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
    let unspecified = ["0.0.0.0", "::", "::ffff:0.0.0.0"]
    for text in loopback + unspecified + ["10.0.0.1", "::2", "2001:db8::1"] {
      let address = try #require(IPAddress(text))
      #expect(address.isLoopback == loopback.contains(text), "\(text)")
      #expect(address.isUnspecified == unspecified.contains(text), "\(text)")
    }
  }
}
