internal import COpenSSL

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D), with nonces of 96 bits and tags of 128.
package enum AES256GCM {
  /// The length of a nonce, which must never be used twice with one key.
  package static let nonceLength = 12
  /// The length of a tag.
  package static let tagLength = 16
  private static let keyLength = 32

  /// The ciphertext of `bytes`, followed by its tag. Nil for a key or a nonce of another length.
  /// - Parameter associated: the associated data, authenticated but not encrypted.
  package static func seal(
    _ bytes: [UInt8], using key: SymmetricKey, nonce: [UInt8], authenticating associated: [UInt8]
  ) -> [UInt8]? {
    guard let context = Context(key: key, nonce: nonce, encrypts: true), context.authenticate(associated),
      let sealed = context.update(bytes), context.finish(), let tag = context.tag
    else { return nil }
    return sealed + tag
  }

  /// Decrypts the result of `seal`. Nil unless the key is the same, and the bytes, the nonce and `associated` are
  /// unchanged.
  package static func open(
    _ sealed: some Collection<UInt8>, using key: SymmetricKey, nonce: [UInt8], authenticating associated: [UInt8]
  ) -> [UInt8]? {
    guard sealed.count >= tagLength else { return nil }
    // No plaintext may be returned before the tag is verified.
    guard let context = Context(key: key, nonce: nonce, encrypts: false), context.authenticate(associated),
      let plain = context.update(Array(sealed.dropLast(tagLength))),
      context.expect(tag: Array(sealed.suffix(tagLength))), context.finish()
    else { return nil }
    return plain
  }

  /// The owner of an `EVP_CIPHER_CTX`: one message.
  private final class Context {
    private let pointer: OpaquePointer

    init?(key: SymmetricKey, nonce: [UInt8], encrypts: Bool) {
      guard key.exposedBytes.count == keyLength, nonce.count == nonceLength else { return nil }
      pointer = LibCrypto.require(EVP_CIPHER_CTX_new(), "AES-256-GCM")
      guard
        EVP_CipherInit_ex2(pointer, Fetched.aes256GCM.pointer, key.exposedBytes, nonce, encrypts ? 1 : 0, nil) == 1
      else { return nil }
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }

    func authenticate(_ associated: [UInt8]) -> Bool {
      guard let count = Int32(exactly: associated.count) else { return false }
      var written: Int32 = 0
      return EVP_CipherUpdate(pointer, nil, &written, associated, count) == 1
    }

    func update(_ bytes: [UInt8]) -> [UInt8]? {
      guard let count = Int32(exactly: bytes.count) else { return nil }
      // OpenSSL treats an empty update with a null pointer as the end of the message.
      guard count > 0 else { return [] }
      var output = [UInt8](repeating: 0, count: bytes.count)
      var written: Int32 = 0
      guard EVP_CipherUpdate(pointer, &output, &written, bytes, count) == 1, written == count else { return nil }
      return output
    }

    /// The tag of the encrypted message, available at its end.
    var tag: [UInt8]? {
      var tag = [UInt8](repeating: 0, count: tagLength)
      guard EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1 else { return nil }
      return tag
    }

    /// Sets the expected tag of the message to decrypt, before its end.
    func expect(tag: [UInt8]) -> Bool {
      var tag = tag
      return EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
    }

    /// Decrypting: whether the tag is right.
    func finish() -> Bool {
      var rest = [UInt8](repeating: 0, count: tagLength)
      var written: Int32 = 0
      return EVP_CipherFinal_ex(pointer, &rest, &written) == 1 && written == 0
    }
  }
}
