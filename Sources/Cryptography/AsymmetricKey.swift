internal import COpenSSL

/// The owner of an `EVP_PKEY`: a key pair, or the public half of one.
final class AsymmetricKey: Sendable {
  /// Immutable after creation, except for its reference count, which OpenSSL changes from any thread.
  nonisolated(unsafe) private let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// The first private key of a PEM text. Nil without one, and for an encrypted one.
  convenience init?(privateKeyPEM text: [UInt8]) {
    if var plain = PlainP256Key(pem: text) {
      defer { plain.erase() }
      self.init(plain)
    } else {
      self.init(decoding: text)
    }
  }

  /// Nil if the point is not on the curve.
  private convenience init?(_ plain: PlainP256Key) {
    let parts = Parameters([
      OSSL_PKEY_PARAM_GROUP_NAME: .text("prime256v1"), OSSL_PKEY_PARAM_PRIV_KEY: .secretNumber(plain.scalar),
      OSSL_PKEY_PARAM_PUB_KEY: .bytes(plain.point),
    ])
    self.init(kind: "EC", selection: cordon_EVP_PKEY_KEYPAIR, parts)
  }

  /// By OpenSSL's decoders.
  convenience init?(decoding text: [UInt8]) {
    // Never prompts for a passphrase on the terminal.
    self.init(text) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
  }

  /// The first public key of a PEM text.
  convenience init?(publicKeyPEM text: [UInt8]) {
    self.init(text) { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) }
  }

  /// Creates a public key from its parts. Nil if they are invalid, such as a point that is not on the curve.
  /// - Parameter kind: `EC` or `RSA` (EVP_PKEY-EC(7), EVP_PKEY-RSA(7)).
  convenience init?(kind: String, publicParts: borrowing Parameters) {
    self.init(kind: kind, selection: cordon_EVP_PKEY_PUBLIC_KEY, publicParts)
  }

  private convenience init?(kind: String, selection: Int32, _ parts: borrowing Parameters) {
    let context = LibCrypto.require(EVP_PKEY_CTX_new_from_name(nil, kind, nil), "keys")
    var key: OpaquePointer?
    defer {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_PKEY_fromdata_init(context) == 1,
      parts.pass(to: { EVP_PKEY_fromdata(context, &key, selection, $0) }) == 1, let key
    else { return nil }
    self.init(owning: key)
  }

  private convenience init?(_ text: [UInt8], read: (OpaquePointer) -> OpaquePointer?) {
    guard let count = Int32(exactly: text.count), count > 0 else { return nil }
    let key = text.withUnsafeBytes { text in
      let bio = LibCrypto.require(BIO_new_mem_buf(text.baseAddress, count), "a memory BIO")
      defer { BIO_free(bio) }
      return read(bio)
    }
    // Errors left in the queue would be taken for the reason of another failure.
    ERR_clear_error()
    guard let key else { return nil }
    self.init(owning: key)
  }

  /// Whether this is a key of the curve P-256.
  var isP256: Bool {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC,
      EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1
    else {
      ERR_clear_error()
      return false
    }
    return name.prefix(length).elementsEqual("prime256v1".utf8.map { CChar($0) })
  }

  /// The signature with SHA-256, as OpenSSL encodes it: DER for ECDSA. Nil if OpenSSL fails.
  func signature(of bytes: [UInt8]) -> [UInt8]? {
    let context = LibCrypto.require(EVP_MD_CTX_new(), "a digest's context")
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, pointer, nil) == 1 else { return nil }
    var count = Int(EVP_PKEY_get_size(pointer))
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
    return Array(signature.prefix(count))
  }

  /// Whether the signature, with SHA-256 and as OpenSSL encodes it, is of these bytes.
  func isValid(signature: [UInt8], of bytes: [UInt8]) -> Bool {
    let context = LibCrypto.require(EVP_MD_CTX_new(), "a digest's context")
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, pointer, nil) == 1
      && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
  }

  /// One of the key's numbers, the highest byte first.
  /// - Parameter byteCount: the length, reached by leading zeros; nil for no leading zeros.
  func number(_ name: String, byteCount: Int? = nil) -> [UInt8]? {
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else { return nil }
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: byteCount ?? (Int(BN_num_bits(number)) + 7) / 8)
    guard BN_bn2binpad(number, &bytes, Int32(bytes.count)) == bytes.count else { return nil }
    return bytes
  }

  /// The private key as PKCS #8 in PEM.
  var privateKeyPEM: String { pem { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }

  /// The public key in PEM.
  var publicKeyPEM: String { pem { PEM_write_bio_PUBKEY($0, pointer) } }

  private func pem(_ write: (OpaquePointer) -> Int32) -> String {
    let bio = LibCrypto.require(BIO_new(BIO_s_mem()), "a memory BIO")
    defer { BIO_free(bio) }
    LibCrypto.require(write(bio), "a key in PEM")
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
    let count = BIO_read(bio, &bytes, Int32(bytes.count))
    return String(decoding: bytes.prefix(Int(max(count, 0))), as: UTF8.self)
  }
}
