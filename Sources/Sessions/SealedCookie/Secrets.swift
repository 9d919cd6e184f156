internal import WebFormats

/// The bytes of one of the operator's secrets. Its description prints nothing.
public struct SecretBytes: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  let bytes: [UInt8]

  /// Takes bytes for secret.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A new secret as the content of a file (`cordon keygen`): 384 random bits as 64 characters of base64url and a
  /// newline.
  public static func newFileContent() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<48).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return Base64URL.encode(bytes) + [UInt8(ascii: "\n")]
  }

  public var description: String { "SecretBytes(\(bytes.count) bytes, secret)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A refresh token in the clear, between the store and Apple. Its description prints nothing.
public struct RefreshTokenText: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// What Apple calls the token.
  public let revealed: String

  /// Takes a token of Apple's for secret.
  public init(_ revealed: String) { self.revealed = revealed }

  public var description: String { "RefreshTokenText(secret)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
