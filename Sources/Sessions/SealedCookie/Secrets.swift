internal import WebFormats

/// The bytes of one of the operator's secrets. Its description prints nothing.
package struct SecretBytes: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  let bytes: [UInt8]

  /// Takes bytes for secret.
  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A new secret as the content of a file (`cordon keygen`): 384 random bits as 64 characters of base64url and a
  /// newline.
  package static func newFileContent() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<48).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return Base64URL.encode(bytes) + [UInt8(ascii: "\n")]
  }

  package var description: String { "SecretBytes(\(bytes.count) bytes, secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A refresh token in the clear, between the store and Apple. Its description prints nothing.
package struct RefreshTokenText: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The token's text from Apple.
  package let revealed: String

  /// Takes a token of Apple's for secret.
  package init(_ revealed: String) { self.revealed = revealed }

  package var description: String { "RefreshTokenText(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
