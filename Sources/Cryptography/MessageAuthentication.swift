internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1).
package enum HMACSHA256 {
  /// The length of a code.
  package static let byteCount = SHA256.byteCount

  /// The authentication code of some bytes: 32 bytes. Compare codes by `ConstantTime`.
  package static func code(for bytes: some Sequence<UInt8>, using key: SymmetricKey) -> [UInt8] {
    let input = Array(bytes)
    let context = LibCrypto.require(EVP_MAC_CTX_new(Fetched.hmac.pointer), "HMAC")
    defer { EVP_MAC_CTX_free(context) }
    // An empty key needs a pointer too: OpenSSL takes a null pointer for a missing key.
    let secret = key.exposedBytes.isEmpty ? [0] : key.exposedBytes
    let parameters = Parameters([OSSL_MAC_PARAM_DIGEST: .text("SHA256")])
    LibCrypto.require(
      parameters.pass { EVP_MAC_init(context, secret, key.exposedBytes.count, $0) }, "HMAC")
    LibCrypto.require(EVP_MAC_update(context, input, input.count), "HMAC")
    return [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
      LibCrypto.require(EVP_MAC_final(context, output.baseAddress, &count, byteCount), "HMAC")
    }
  }
}

/// HKDF with SHA-256 and without a salt (RFC 5869).
package enum HKDFSHA256 {
  /// A key of its own for each purpose.
  /// - Parameters:
  ///   - secret: the input keying material.
  ///   - info: the purpose.
  ///   - byteCount: the length of the key, at most 8,160.
  package static func deriveKey(from secret: SymmetricKey, info: [UInt8], byteCount: Int) -> SymmetricKey {
    let context = LibCrypto.require(EVP_KDF_CTX_new(Fetched.hkdf.pointer), "HKDF")
    defer { EVP_KDF_CTX_free(context) }
    let parameters = Parameters([
      OSSL_KDF_PARAM_DIGEST: .text("SHA256"), OSSL_KDF_PARAM_KEY: .bytes(secret.exposedBytes),
      OSSL_KDF_PARAM_INFO: .bytes(info),
    ])
    var derived = [UInt8](repeating: 0, count: byteCount)
    LibCrypto.require(parameters.pass { EVP_KDF_derive(context, &derived, byteCount, $0) }, "HKDF")
    return SymmetricKey(derived)
  }
}
