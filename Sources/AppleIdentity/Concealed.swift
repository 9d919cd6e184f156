/// Text that proves something to Apple or to us and must not reach a log, an error message or a page.
///
/// Printing, interpolating, dumping or mirroring a value shows nothing of it; the text is had only by asking for
/// ``exposed``. The kinds cannot be mixed up: a code is not a refresh token.
package struct Concealed<Kind>: Sendable, Hashable {
  /// The text itself. Whoever reads it keeps it out of logs.
  package let exposed: String

  /// Conceals a text.
  package init(_ text: String) {
    exposed = text
  }

  /// Byte by byte: `String` would also take canonically equivalent text for the same.
  package static func == (left: Self, right: Self) -> Bool {
    left.exposed.utf8.elementsEqual(right.exposed.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in exposed.utf8 { hasher.combine(byte) }
  }
}

extension Concealed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "[concealed]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A marker that distinguishes the kinds of ``Concealed``; it has no values.
package enum ConcealedKind {
  /// Marks a concealed authorization code.
  package enum AuthorizationCode {}
  /// Marks a concealed refresh token.
  package enum RefreshToken {}
  /// Marks a concealed client secret.
  package enum ClientSecret {}
  /// Marks a concealed identity token.
  package enum IdentityToken {}
}

/// An authorization code: single use, five minutes.
package typealias AuthorizationCode = Concealed<ConcealedKind.AuthorizationCode>
/// A refresh token: what the daily check asks Apple about.
package typealias RefreshToken = Concealed<ConcealedKind.RefreshToken>
/// A client secret: a JWT signed with the `.p8` key.
package typealias ClientSecret = Concealed<ConcealedKind.ClientSecret>
/// An identity token as it came, of which nothing may be believed. ``IdentityTokenVerifier`` makes a
/// ``VerifiedIdentityToken`` of it.
package typealias UnverifiedIdentityToken = Concealed<ConcealedKind.IdentityToken>
