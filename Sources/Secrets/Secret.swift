/// A secret: a token, a code or a key of some kind.
///
/// Printing, interpolating, dumping or mirroring a value reveals nothing, it is not `Codable`, and the comparison takes
/// constant time. The contents are only accessible by ``exposed`` and ``exposedBytes``, so that a search finds every
/// place where a secret leaves its type. Kinds cannot be mixed up: a code is not a refresh token.
package struct Secret<Kind>: Sendable {
  /// The contents, as bytes. Keep them out of logs, error messages and pages.
  package let exposedBytes: [UInt8]

  /// A secret of any bytes.
  package init(_ bytes: [UInt8]) { exposedBytes = bytes }

  /// A secret that is text.
  package init(_ text: String) { exposedBytes = Array(text.utf8) }

  /// The contents, as text. Keep it out of logs, error messages and pages.
  package var exposed: String { String(decoding: exposedBytes, as: UTF8.self) }

  /// Whether a presented candidate is the secret. The length is not kept secret.
  package func matches(_ candidate: some Collection<UInt8>) -> Bool { ConstantTime.equal(exposedBytes, candidate) }
}

extension Secret: Hashable {
  /// Byte by byte: `String` would also accept canonically equivalent text.
  package static func == (left: Self, right: Self) -> Bool { left.matches(right.exposedBytes) }

  package func hash(into hasher: inout Hasher) { hasher.combine(exposedBytes) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "[secret]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The kinds of ``Secret`` that more than one module knows; never values.
package enum SecretKind {
  /// Marks a refresh token.
  package enum RefreshToken {}
}

/// A refresh token from Apple: stored encrypted, and presented to Apple to revalidate or revoke a sign-in.
package typealias RefreshToken = Secret<SecretKind.RefreshToken>
