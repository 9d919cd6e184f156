internal import WebFormats

/// The public name of a session: the first 128 bits of SHA-256 over a label and the session's identifier. The same for
/// the session's whole life, on every replica and under every key. It gives no access: neither the identifier nor a
/// cookie can be made from it, so it may be shown, logged and sent upstream as `session_id`, and a stolen database
/// holds no session.
package struct PublicSessionID: Sendable, Hashable, CustomStringConvertible {
  /// The number of bytes.
  package static let byteCount = 16
  static let label = Array("cordon session handle v1\0".utf8)

  /// The first eight bytes, the most significant first.
  package let high: UInt64
  /// The last eight bytes.
  package let low: UInt64

  /// From its two halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Nil unless there are exactly 16 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    high = UInt64(bigEndian: bytes.prefix(8))
    low = UInt64(bigEndian: bytes.dropFirst(8))
  }

  /// From what `text` gave; nil for anything else.
  package init?(text: String) {
    guard let bytes = Base64URL.decode(Array(text.utf8)) else { return nil }
    self.init(bytes: bytes)
  }

  /// From the first 16 of the bytes, of which there must be that many.
  init(bigEndian bytes: UnsafeRawBufferPointer) {
    high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
    low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// The 16 bytes, as a store keeps them.
  package var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
  }

  /// 22 characters of base64url.
  package var text: String { Base64URL.text(bytes) }

  package var description: String { text }
}

extension PublicSessionID: Comparable {
  /// The order of the bytes, which is that of the stores' keys.
  package static func < (left: PublicSessionID, right: PublicSessionID) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
