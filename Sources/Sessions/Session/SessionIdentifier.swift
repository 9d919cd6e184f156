internal import Cryptography

/// The secret identifier in the session cookie: 128 random bits. Its description prints nothing. It is never stored:
/// everything except the cookie uses the session's `handle`.
package struct SessionIdentifier: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The number of bytes.
  package static let byteCount = 16

  let high: UInt64
  let low: UInt64

  /// A random identifier from the system's random source.
  package static func random() -> SessionIdentifier {
    var generator = SystemRandomNumberGenerator()
    return SessionIdentifier(high: generator.next(), low: generator.next())
  }

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// From the first 16 of the bytes.
  init(bigEndian bytes: some Collection<UInt8>) {
    high = UInt64(bigEndian: bytes.prefix(8))
    low = UInt64(bigEndian: bytes.dropFirst(8).prefix(8))
  }

  /// The 16 bytes, as cookies and one-time codes hold them.
  var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

  /// The name under which the session is stored, listed and sent to the upstream.
  package var handle: PublicSessionID {
    SHA256.hash(PublicSessionID.label + bytes).withUnsafeBytes { PublicSessionID(bigEndian: $0) }
  }

  package var description: String { "SessionIdentifier(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
