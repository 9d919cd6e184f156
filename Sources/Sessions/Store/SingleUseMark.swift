import Crypto
import FoundationEssentials

/// Something that may happen once: an attempt to sign in, a notification, a one-time code. 128 bits of SHA-256 over what
/// it is and which one, so what is stored tells nothing.
public struct SingleUseMark: Sendable, Hashable {
  /// What is compared.
  public let bytes: [UInt8]

  /// An attempt to sign in, by the random name inside its sealed cookie. Used up before its code is exchanged, so that no
  /// code or state works twice.
  public static func attempt(_ name: [UInt8]) -> SingleUseMark { SingleUseMark("attempt", name) }

  /// A server-to-server notification of Apple's, by its `jti`.
  public static func notification(_ identifier: String) -> SingleUseMark {
    SingleUseMark("notification", Array(identifier.utf8))
  }

  /// A one-time code handed back to a native app.
  public static func handBack(_ code: [UInt8]) -> SingleUseMark { SingleUseMark("hand-back", code) }

  /// The authorization code that a native app brought.
  public static func nativeCode(_ code: [UInt8]) -> SingleUseMark { SingleUseMark("native-code", code) }

  private init(_ kind: String, _ name: [UInt8]) {
    bytes = Array(SHA256.hash(data: Array(kind.utf8) + [0] + name).prefix(16))
  }
}
