internal import COpenSSL

/// A private key of ES256: ECDSA with P-256 and SHA-256 (RFC 7518, 3.4). A value cannot be printed.
package struct ES256PrivateKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let key: AsymmetricKey

  /// A new key.
  package init() { key = AsymmetricKey(owning: LibCrypto.require(cordon_EVP_EC_gen("P-256"), "P-256")) }

  /// The first private key of a PEM text: PKCS #8 or SEC 1, not encrypted. Nil unless it is one of P-256.
  package init?(pem: some Collection<UInt8>) {
    guard let key = AsymmetricKey(privateKeyPEM: Array(pem)), key.isP256 else { return nil }
    self.key = key
  }

  /// The key as PKCS #8 in PEM, the content of a `.p8` file.
  package var pem: String { key.privateKeyPEM }

  /// The public half.
  package var publicKey: ES256PublicKey { ES256PublicKey(key) }

  /// The signature of some bytes: 64 bytes, R and S as a JWS has them (RFC 7518, 3.4). Nil if OpenSSL fails.
  package func signature(of bytes: some Sequence<UInt8>) -> [UInt8]? {
    key.signature(of: Array(bytes)).flatMap(ECDSASignature.plain)
  }

  package var description: String { "[secret]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A public key of ES256.
package struct ES256PublicKey: Sendable {
  private let key: AsymmetricKey
  /// In bytes.
  private static let coordinateLength = 32

  fileprivate init(_ key: AsymmetricKey) { self.key = key }

  /// From the coordinates of a JWK (RFC 7518, 6.2.1). Nil unless each has 32 bytes and the point is on the curve.
  package init?(x: [UInt8], y: [UInt8]) {
    // 0x04, x, y (SEC 1, 2.3.3)
    let parts = Parameters([
      OSSL_PKEY_PARAM_GROUP_NAME: .text("P-256"), OSSL_PKEY_PARAM_PUB_KEY: .bytes([0x04] + x + y),
    ])
    guard x.count == Self.coordinateLength, y.count == Self.coordinateLength,
      let key = AsymmetricKey(kind: "EC", publicParts: parts)
    else { return nil }
    self.key = key
  }

  /// From a PEM text (`BEGIN PUBLIC KEY`). Nil unless it is a key of P-256.
  package init?(pem: some Collection<UInt8>) {
    guard let key = AsymmetricKey(publicKeyPEM: Array(pem)), key.isP256 else { return nil }
    self.key = key
  }

  /// The key in PEM (`BEGIN PUBLIC KEY`).
  package var pem: String { key.publicKeyPEM }

  /// The coordinates, of 32 bytes each.
  package var coordinates: (x: [UInt8], y: [UInt8]) {
    (
      LibCrypto.require(key.number(OSSL_PKEY_PARAM_EC_PUB_X, byteCount: Self.coordinateLength), "P-256"),
      LibCrypto.require(key.number(OSSL_PKEY_PARAM_EC_PUB_Y, byteCount: Self.coordinateLength), "P-256")
    )
  }

  /// Whether this key's private half made the signature, of 64 bytes.
  package func isValid(signature: some Collection<UInt8>, of bytes: some Sequence<UInt8>) -> Bool {
    guard let encoded = ECDSASignature.encoded(Array(signature)) else { return false }
    return key.isValid(signature: encoded, of: Array(bytes))
  }
}

/// A signature as a JWS has it (R and S one after the other), and as OpenSSL has it (DER).
private enum ECDSASignature {
  static let numberLength = 32

  /// R and S of a signature in DER.
  static func plain(_ encoded: [UInt8]) -> [UInt8]? {
    encoded.withUnsafeBufferPointer { buffer in
      var next = buffer.baseAddress
      guard let signature = d2i_ECDSA_SIG(nil, &next, buffer.count) else { return nil }
      defer { ECDSA_SIG_free(signature) }
      var plain = [UInt8](repeating: 0, count: 2 * numberLength)
      let isWhole = plain.withUnsafeMutableBufferPointer { plain in
        BN_bn2binpad(ECDSA_SIG_get0_r(signature), plain.baseAddress, Int32(numberLength)) == numberLength
          && BN_bn2binpad(ECDSA_SIG_get0_s(signature), plain.baseAddress! + numberLength, Int32(numberLength))
            == numberLength
      }
      return isWhole ? plain : nil
    }
  }

  /// DER of R and S; nil unless there are 64 bytes.
  static func encoded(_ plain: [UInt8]) -> [UInt8]? {
    guard plain.count == 2 * numberLength else { return nil }
    let signature = LibCrypto.require(ECDSA_SIG_new(), "ECDSA")
    defer { ECDSA_SIG_free(signature) }
    plain.withUnsafeBufferPointer { plain in
      let r = LibCrypto.require(BN_bin2bn(plain.baseAddress, Int32(numberLength), nil), "ECDSA")
      let s = LibCrypto.require(BN_bin2bn(plain.baseAddress! + numberLength, Int32(numberLength), nil), "ECDSA")
      // From here the signature owns both.
      LibCrypto.require(ECDSA_SIG_set0(signature, r, s), "ECDSA")
    }
    var output: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(signature, &output)
    guard count > 0, let output else { return nil }
    defer { cordon_OPENSSL_free(output) }
    return Array(UnsafeBufferPointer(start: output, count: Int(count)))
  }
}
