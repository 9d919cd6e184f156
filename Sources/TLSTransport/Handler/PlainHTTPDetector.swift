import NIOCore
import WebFormats

/// Detects a plain HTTP request where a TLS handshake should begin: a method token, a space, and the beginning of a
/// request target (RFC 9112, 3). OpenSSL knows GET, HEAD, POST, PUT and CONNECT alone.
///
/// Buffers at most ``methodLimit`` bytes and a few more. The first byte of a TLS record is not a byte of a token.
struct PlainHTTPDetector {
  enum Outcome {
    /// More bytes are needed; those passed so far are buffered.
    case undecided
    case http
    /// All bytes so far, to be passed to TLS.
    case other(ByteBuffer)
  }

  private var held = ByteBuffer()

  /// The longest method, in bytes; that of a registered one is 17 (UPDATEREDIRECTREF).
  private static let methodLimit = 32
  private static let absoluteForm = Array("http".utf8)
  private static let connect = Array("CONNECT".utf8)

  mutating func inspect(_ bytes: ByteBuffer) -> Outcome {
    let isFirst = held.readableBytes == 0
    if isFirst, let first = bytes.readableBytesView.first, !first.isToken { return .other(bytes) }
    var all = held
    all.writeImmutableBuffer(bytes)
    switch Self.match(all.readableBytesView.prefix(Self.methodLimit + 1 + Self.absoluteForm.count)) {
    case true?: return .http
    case false?: return .other(all)
    case nil:
      held = all
      return .undecided
    }
  }

  /// - Returns: whether `bytes` begin a request; nil while that depends on bytes to come.
  private static func match(_ bytes: ByteBufferView) -> Bool? {
    let method = bytes.prefix(while: \.isToken)
    guard method.count <= Self.methodLimit else { return false }
    guard !method.isEmpty, method.endIndex < bytes.endIndex else { return method.count == bytes.count ? nil : false }
    guard bytes[method.endIndex] == UInt8(ascii: " ") else { return false }
    let target = bytes[(method.endIndex + 1)...]
    guard let first = target.first else { return nil }
    if first == UInt8(ascii: "/") || first == UInt8(ascii: "*") || method.elementsEqual(Self.connect) { return true }
    let scheme = target.prefix(Self.absoluteForm.count)
    guard zip(scheme, Self.absoluteForm).allSatisfy({ $0 | 0x20 == $1 }) else { return false }
    return scheme.count == Self.absoluteForm.count ? true : nil
  }
}
