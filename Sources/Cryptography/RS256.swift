internal import COpenSSL

/// A public key of RS256: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518, 3.3).
package struct RS256PublicKey: Sendable {
  private let key: AsymmetricKey

  fileprivate init(_ key: AsymmetricKey) { self.key = key }

  /// Creates a key from the numbers of a JWK (RFC 7518, 6.3.1), big-endian.
  ///
  /// Nil unless the modulus is odd and has 2,048 (RFC 7518, 3.3) to 8,192 bits, and the exponent is odd and has 2 to 33
  /// bits. With an exponent of 1, signatures could be forged; longer numbers only cost time.
  package init?(modulus: [UInt8], exponent: [UInt8]) {
    let modulus = Array(modulus.drop { $0 == 0 })
    let exponent = Array(exponent.drop { $0 == 0 })
    guard (2048...8192).contains(Self.bitCount(modulus)), modulus.last! & 1 == 1,
      (2...33).contains(Self.bitCount(exponent)), exponent.last! & 1 == 1,
      let key = AsymmetricKey(
        kind: "RSA",
        publicParts: Parameters([OSSL_PKEY_PARAM_RSA_N: .number(modulus), OSSL_PKEY_PARAM_RSA_E: .number(exponent)]))
    else { return nil }
    self.key = key
  }

  /// The modulus and the exponent, without zeros in front.
  package var numbers: (modulus: [UInt8], exponent: [UInt8]) {
    (
      LibCrypto.require(key.number(OSSL_PKEY_PARAM_RSA_N), "RSA"),
      LibCrypto.require(key.number(OSSL_PKEY_PARAM_RSA_E), "RSA")
    )
  }

  /// The key in PEM (`BEGIN PUBLIC KEY`).
  package var pem: String { key.publicKeyPEM }

  /// Whether this key's private half made the signature.
  package func isValid(signature: some Collection<UInt8>, of bytes: some Sequence<UInt8>) -> Bool {
    key.isValid(signature: Array(signature), of: Array(bytes))
  }

  /// The number of bits of a number without zeros in front.
  private static func bitCount(_ bytes: [UInt8]) -> Int {
    guard let first = bytes.first else { return 0 }
    return bytes.count * 8 - first.leadingZeroBitCount
  }
}

/// A private key of RS256. Apple signs with such keys, and so does its simulator; the gateway has none.
package struct RS256PrivateKey: Sendable {
  private let key: AsymmetricKey

  /// A new key of 2,048 bits, which takes a noticeable fraction of a second.
  package init() { key = AsymmetricKey(owning: LibCrypto.require(cordon_EVP_RSA_gen(2048), "RSA")) }

  /// The public half.
  package var publicKey: RS256PublicKey { RS256PublicKey(key) }

  /// The signature of some bytes, as long as the modulus. Nil if OpenSSL fails.
  package func signature(of bytes: some Sequence<UInt8>) -> [UInt8]? { key.signature(of: Array(bytes)) }
}
