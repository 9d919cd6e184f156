internal import COpenSSL
import Glibc

/// Unwraps the results of calls to libcrypto that fail only without memory, or if the configuration of OpenSSL disables
/// algorithms that sessions require. The process cannot continue in either case, and ends with a message.
enum LibCrypto {
  /// Unwraps the value that such a call returned.
  static func require<Value>(_ value: Value?, _ name: StaticString) -> Value {
    guard let value else { unavailable(name) }
    return value
  }

  /// Requires a status of 1.
  static func require(_ status: Int32, _ name: StaticString) {
    guard status == 1 else { unavailable(name) }
  }

  private static func unavailable(_ name: StaticString) -> Never {
    let text = """
      OpenSSL does not provide \(name): give back to openssl.cnf the providers that Debian's has, see config(5); if they \
      are there, raise the memory limit\n
      """
    _ = write(STDERR_FILENO, text, text.utf8.count)
    abort()
  }
}

/// One of libcrypto's algorithms, fetched once, because fetching it for each use is slow (crypto(7)).
struct Fetched: Sendable {
  /// Never written to, and never freed.
  nonisolated(unsafe) let pointer: OpaquePointer

  init(_ pointer: OpaquePointer?, _ name: StaticString) { self.pointer = LibCrypto.require(pointer, name) }

  static let sha1 = Fetched(EVP_MD_fetch(nil, "SHA1", nil), "SHA-1")
  static let sha256 = Fetched(EVP_MD_fetch(nil, "SHA256", nil), "SHA-256")
  static let hmac = Fetched(EVP_MAC_fetch(nil, "HMAC", nil), "HMAC")
  static let hkdf = Fetched(EVP_KDF_fetch(nil, "HKDF", nil), "HKDF")
  static let aes256GCM = Fetched(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "AES-256-GCM")
}
