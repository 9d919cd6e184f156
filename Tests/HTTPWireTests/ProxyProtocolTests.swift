import Testing

@testable import HTTPWire

// Cases: version 1 for IPv4, IPv6 and UNKNOWN; version 2 for IPv4, IPv6, Unix, unspecified and LOCAL, with fields
// after the addresses; every header cut at every place; what is malformed, or no header at all; what follows a header
// is left.

@Suite("The PROXY protocol")
struct ProxyProtocolTests {
  private func read(_ bytes: [UInt8]) -> ProxyHeader.Reading { ProxyHeader.read(bytes.span.bytes) }

  private func source(_ bytes: [UInt8]) -> ProxyHeader.Source? {
    guard case .complete(let header) = read(bytes) else { return nil }
    return header.source
  }

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
  private static let six: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]

  private static let goodLines: [(String, ProxyHeader.Source)] = [
    ("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443", .address(mapped + [192, 0, 2, 7])),
    ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535", .address(mapped + [255, 255, 255, 255])),
    ("PROXY TCP4 0.0.0.0 1.2.3.4 0 0", .address(mapped + [0, 0, 0, 0])),
    ("PROXY TCP6 2001:db8::7 ::1 1 2", .address(six)),
    ("PROXY TCP6 2001:0DB8:0000:0000:0000:0000:0000:0007 ::1 1 2", .address(six)),
    ("PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2", .address(mapped + [192, 0, 2, 7])),
    ("PROXY TCP6 :: 1:2:3:4:5:6:7:8 1 2", .address(Array(repeating: 0, count: 16))),
    ("PROXY TCP6 1:2:3:4:5:6:7:: ::1 1 2", .address([0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0])),
    ("PROXY UNKNOWN", .unknown), ("PROXY UNKNOWN ffff::1 whatever  stands here", .unknown),
  ]

  @Test("A line of version 1 contains the address of the client", arguments: goodLines.indices)
  func lines(index: Int) {
    let (line, expected) = Self.goodLines[index]
    let bytes = Array("\(line)\r\n".utf8)
    #expect(read(bytes) == .complete(ProxyHeader(source: expected, byteCount: bytes.count)))
    #expect(read(bytes + Array("GET / HTTP/1.1\r\n".utf8)) == read(bytes), "what follows is the client's")
    for count in 0..<bytes.count { #expect(read(Array(bytes[..<count])) == .incomplete, "\(count)") }
  }

  @Test(
    "A PROXY header that deviates from the format is malformed",
    arguments: [
      "GET / HTTP/1.1\r\n", "proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY\r\n", "PROXY \r\n",
      "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
      "PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n", "PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n",
      "PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4.5 1.2.3.4 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 99999999999\r\n",
      "PROXY TCP4 ::1 ::1 1 2\r\n", "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP6 ::1%lo ::1 1 2\r\n",
      "PROXY TCP6 1::2::3 ::1 1 2\r\n",
      "PROXY TCP6 1:2:3:4:5:6:7:8:9 ::1 1 2\r\n", "PROXY TCP6 1:2:3:4:5:6:7 ::1 1 2\r\n", "PROXY TCP6 1: ::1 1 2\r\n",
      "PROXY TCP6 ::: ::1 1 2\r\n", "PROXY TCP6 12345::1 ::1 1 2\r\n", "PROXY TCP6 1:2:3:4:5:6:7:8:: ::1 1 2\r\n",
      "PROXY TCP6 [::1] ::1 1 2\r\n", "PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY UNKNOWNX\r\n",
      "PROXY UNIX /a /b\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\rX", "PROXY UNKNOWN \u{0}\r\n",
      "PROXY UNKNOWN \u{E9}\r\n",
      "PROXY UNKNOWN \(String(repeating: "x", count: 100))\r\n",
    ])
  func malformedLines(line: String) { #expect(read(Array(line.utf8)) == .malformed) }

  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]

  private static func block(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
    signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xFF)] + rest
  }

  private static let ports: [UInt8] = [0xDC, 4, 1, 0xBB]
  private static let four: [UInt8] = [192, 0, 2, 7, 198, 51, 100, 1] + ports
  private static let sixes = six + six + ports
  /// PP2_TYPE_AUTHORITY, and an unknown type.
  private static let fields: [UInt8] = [2, 0, 3, 0x61, 0x2E, 0x62, 0xEE, 0, 0]

  private static let goodBlocks: [([UInt8], ProxyHeader.Source)] = [
    (block(0x21, 0x11, four), .address(mapped + [192, 0, 2, 7])),
    (block(0x21, 0x11, four + fields), .address(mapped + [192, 0, 2, 7])),
    (block(0x21, 0x12, four), .address(mapped + [192, 0, 2, 7])),
    (block(0x21, 0x21, sixes + fields), .address(six)), (block(0x21, 0x22, sixes), .address(six)),
    (block(0x21, 0x31, Array(repeating: 0x2F, count: 216)), .unix),
    (block(0x21, 0x00, []), .unknown), (block(0x21, 0x00, fields), .unknown),
    (block(0x20, 0x00, []), .peer), (block(0x20, 0x11, four), .peer), (block(0x20, 0xFF, [1, 2, 3]), .peer),
    (block(0x21, 0x11, four + Array(repeating: 7, count: 65_523)), .address(mapped + [192, 0, 2, 7])),
  ]

  @Test(
    "A block of version 2 contains the address of the client, whatever fields it carries",
    arguments: goodBlocks.indices)
  func blocks(index: Int) {
    let (bytes, expected) = Self.goodBlocks[index]
    #expect(read(bytes) == .complete(ProxyHeader(source: expected, byteCount: bytes.count)))
    #expect(read(bytes + [0x47, 0x45]) == read(bytes), "what follows is the client's")
    for count in 0..<min(bytes.count, 300) { #expect(read(Array(bytes[..<count])) == .incomplete, "\(count)") }
    #expect(read(bytes.dropLast()) == .incomplete)
    #expect(bytes.count <= ProxyHeader.largest)
  }

  private static let badBlocks: [[UInt8]] = [
    block(0x11, 0x11, four), block(0x31, 0x11, four), block(0x22, 0x11, four), block(0x2F, 0x11, four),
    block(0x21, 0x10, four), block(0x21, 0x01, four), block(0x21, 0x13, four), block(0x21, 0x41, four),
    block(0x21, 0x11, four.dropLast()), block(0x21, 0x11, []), block(0x21, 0x21, four),
    block(0x21, 0x31, Array(repeating: 0, count: 215)), [13, 10, 13, 10, 1], [13, 13], [0x16, 3, 1], [0],
  ]

  @Test(
    "Another version, an unknown command or family, and addresses cut short are malformed", arguments: badBlocks)
  func malformedBlocks(bytes: [UInt8]) { #expect(read(bytes) == .malformed) }

  @Test("Bytes at random never trap, and are never a header that has more bytes than there are")
  func random() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0..<64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      if Bool.random(using: &random) {
        bytes = Self.signature + [0x21, [0x11, 0x21, 0x31, 0][Int.random(in: 0..<4, using: &random)]] + bytes
      } else if Bool.random(using: &random) {
        bytes = Array("PROXY TCP\(Int.random(in: 3..<7, using: &random)) ".utf8) + bytes.map { $0 & 0x3F | 0x20 }
      }
      if case .complete(let header) = read(bytes) { #expect(header.byteCount <= bytes.count) }
    }
  }
}
