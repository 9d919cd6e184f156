internal import Cryptography
import FoundationEssentials

/// A value that may be used once: of a sign-in, a notification, a one-time code, a form. 128 bits of SHA-256 over its
/// kind and name, so that the stored value reveals neither.
package struct ReplayGuard: Sendable, Hashable {
  /// The stored bytes.
  package let bytes: [UInt8]

  /// A sign-in, by its `state`. Consumed before its code is exchanged, so that no code or state works twice.
  package static func attempt(_ state: [UInt8]) -> ReplayGuard { ReplayGuard("attempt", state) }

  /// A server-to-server notification of Apple's, by its `jti`.
  package static func notification(_ identifier: String) -> ReplayGuard {
    ReplayGuard("notification", Array(identifier.utf8))
  }

  /// The one-time code of an ``AppReturn``. The name of its kind is part of what stores keep.
  package static func appReturn(_ code: [UInt8]) -> ReplayGuard { ReplayGuard("hand-back", code) }

  /// A one-time code that brings a session to another host.
  package static func arrival(_ code: [UInt8]) -> ReplayGuard { ReplayGuard("arrival", code) }

  /// The authorization code that a native app brought.
  package static func nativeCode(_ code: [UInt8]) -> ReplayGuard { ReplayGuard("native-code", code) }

  /// An invitation, by its public name. Consumed when a form has made it, and when it is revoked: the form, which has
  /// the code of its link, makes none again after it is gone.
  package static func invitation(_ id: String) -> ReplayGuard { ReplayGuard("invitation", Array(id.utf8)) }

  /// A jump of the system's clock, by the day that it shows since, in days since 1970. Nothing is refused by it: a
  /// gateway that is started on that day must know of the jump.
  package static func clockJump(day: Int) -> ReplayGuard { ReplayGuard("clock-jump", Array(String(day).utf8)) }

  private init(_ kind: String, _ name: [UInt8]) {
    bytes = Array(SHA256.hash(Array(kind.utf8) + [0] + name).prefix(16))
  }
}
