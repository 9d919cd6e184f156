import Crypto

/// The MAC of an attacker that uses a published key as a shared secret.
func hmacSHA256(_ text: String, secret: [UInt8]) -> [UInt8] {
  Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: secret)))
}
