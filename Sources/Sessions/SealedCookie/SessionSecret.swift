package import Secrets
internal import WebFormats

/// The kind of a ``SessionSecret``; never a value.
package enum SessionSecretKind {}

/// One of the operator's session secrets, from which the gateway's keys are derived.
package typealias SessionSecret = Secret<SessionSecretKind>

extension SessionSecret {
  /// The contents of a new file (`cordon keygen`): 384 random bits as 64 characters of base64url, and a newline.
  package static func newFileContent() -> [UInt8] {
    Base64URL.encode(SystemRandom.bytes(48)) + [UInt8(ascii: "\n")]
  }
}
