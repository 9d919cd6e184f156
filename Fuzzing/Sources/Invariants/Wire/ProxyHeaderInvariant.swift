import Foundation
import HTTPWire

extension Invariant {
  /// A header of the PROXY protocol that is taken is the same with fewer bytes after it, incomplete with fewer of its
  /// own, and has the address that the C library reads from its text, or that is in its block. Bytes that are malformed
  /// stay so, whatever follows.
  static let proxyHeader = Invariant("proxy-header") { bytes in
    let whole = bytes.span.bytes
    let reading = ProxyHeader.read(whole)
    let half = ProxyHeader.read(whole.extracting(0..<bytes.count / 2))
    switch reading {
    case .complete(let header):
      try require(header.byteCount > 0 && header.byteCount <= bytes.count, "it has \(header.byteCount) bytes")
      let alone = ProxyHeader.read(whole.extracting(0..<header.byteCount))
      try require(alone == reading, "without what follows it is \(alone)")
      for end in [header.byteCount - 1, header.byteCount / 2, 1, 0] {
        let part = ProxyHeader.read(whole.extracting(0..<end))
        try require(part == .incomplete, "its first \(end) bytes are \(part)")
      }
      let expected = bytes[0] == 0x50 ? source(ofLine: Array(bytes[..<header.byteCount])) : source(ofBlock: bytes)
      try require(header.source == expected, "read as \(header.source), meant as \(String(describing: expected))")
    case .incomplete: try require(half == .incomplete, "the first half is \(half) already")
    case .malformed:
      if case .complete = half { throw Violation(description: "the first half is \(half)") }
      for more in [[0x0D, 0x0A], [0x00], Array("GET / HTTP/1.1\r\n\r\n".utf8)] as [[UInt8]] {
        let longer = bytes + more
        let again = ProxyHeader.read(longer.span.bytes)
        try require(again == .malformed, "with \(shown(more)) after it, it is \(again)")
      }
    }
  }

  /// Version 1, with the words split and the addresses read by `inet_pton`.
  private static func source(ofLine line: [UInt8]) -> ProxyHeader.Source? {
    guard line.count <= 107, line.suffix(2) == [0x0D, 0x0A] else { return nil }
    let words = line.dropLast(2).split(separator: 0x20, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard words.count >= 2, words[0] == "PROXY" else { return nil }
    if words[1] == "UNKNOWN" { return .unknown }
    guard words.count == 6, words[4...].allSatisfy({ UInt16($0).map(String.init) == $0 }) else { return nil }
    switch words[1] {
    case "TCP4":
      guard let address = address(words[2], AF_INET), self.address(words[3], AF_INET) != nil else { return nil }
      return .address([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + address)
    case "TCP6":
      guard let address = address(words[2], AF_INET6), self.address(words[3], AF_INET6) != nil else { return nil }
      return .address(address)
    default: return nil
    }
  }

  private static func address(_ text: String, _ family: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }

  /// Version 2, by its table.
  private static func source(ofBlock bytes: [UInt8]) -> ProxyHeader.Source? {
    guard bytes.count >= 16, bytes[..<12].elementsEqual("\r\n\r\n\0\r\nQUIT\n".utf8), bytes[12] >> 4 == 2 else {
      return nil
    }
    switch (bytes[12] & 15, bytes[13] >> 4) {
    case (0, _): return .peer
    case (1, 0): return .unknown
    case (1, 1): return .address([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes[16..<20])
    case (1, 2): return .address(Array(bytes[16..<32]))
    case (1, 3): return .unix
    default: return nil
    }
  }
}
