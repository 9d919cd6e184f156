import COpenSSL
import Secrets

/// One key of session tickets (RFC 5077, 4): a name in cleartext, an encryption key, and an authentication
/// key. Its own copy of them is overwritten when it goes; its description prints nothing of it.
final class TicketKey: Sendable, CustomStringConvertible, CustomReflectable {
  static let nameLength = 16
  /// The lengths of key files, as in nginx: with AES-256 or AES-128.
  static let fileLengths = [80, 48]

  /// Written once in `init` and only read afterwards.
  nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer
  private let authentication: Range<Int>
  private let encryption: Range<Int>

  /// A random key, for this process alone.
  convenience init() throws(TLSConfigurationError) {
    var random = [UInt8](repeating: 0, count: 80)
    defer { random.erase() }
    OpenSSLErrorQueue.clear()
    guard RAND_priv_bytes(&random, 80) == 1 else {
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    self.init(copying: random)
  }

  /// The key in a file of 80 or 48 random bytes. Its holder can decrypt every connection that was resumed with its
  /// tickets, so a file that others can read is refused.
  convenience init(file path: String) throws(TLSConfigurationError) {
    var bytes = try CredentialFile(privatePath: path).bytes
    defer { bytes.erase() }
    guard Self.fileLengths.contains(bytes.count) else { throw .notATicketKey(file: path, length: bytes.count) }
    self.init(copying: bytes)
  }

  private init(copying source: [UInt8]) {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 16)
    bytes.copyBytes(from: source)
    self.bytes = bytes
    // 80 bytes: name 16, HMAC 32, AES-256 32. 48 bytes: name 16, AES-128 16, HMAC 16.
    if source.count == 80 {
      authentication = 16..<48
      encryption = 48..<80
    } else {
      authentication = 32..<48
      encryption = 16..<32
    }
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  var description: String { "a session ticket key" }
  var customMirror: Mirror { Mirror(self, children: []) }

  /// The name of the key that a ticket was made with.
  var name: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<Self.nameLength]) }

  /// Initializes OpenSSL's cipher and MAC with this key.
  func apply(
    to cipher: OpaquePointer, _ mac: OpaquePointer, initializationVector: UnsafeMutablePointer<UInt8>, encrypts: Bool
  ) -> Bool {
    let key = bytes.baseAddress! + encryption.lowerBound
    let algorithm = encryption.count == 32 ? EVP_aes_256_cbc() : EVP_aes_128_cbc()
    return EVP_CipherInit_ex(
      cipher, algorithm, nil, key.assumingMemoryBound(to: UInt8.self), initializationVector, encrypts ? 1 : 0) == 1
      && authenticate(with: mac)
  }

  /// HMAC with SHA-256, as RFC 5077 recommends.
  private func authenticate(with mac: OpaquePointer) -> Bool {
    // A parameter keeps the pointers that it is made of: none of them may be that of a passing Swift string.
    OSSL_MAC_PARAM_KEY.withCString { keyName in
      OSSL_MAC_PARAM_DIGEST.withCString { digestName in
        "SHA256".withCString { digest in
          let key = bytes.baseAddress! + authentication.lowerBound
          let parameters = [
            OSSL_PARAM_construct_octet_string(keyName, key, authentication.count),
            OSSL_PARAM_construct_utf8_string(digestName, UnsafeMutablePointer(mutating: digest), 0),
            OSSL_PARAM_construct_end(),
          ]
          return EVP_MAC_CTX_set_params(mac, parameters) == 1
        }
      }
    }
  }
}
