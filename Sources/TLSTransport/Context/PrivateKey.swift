import COpenSSL

/// The owner of an `EVP_PKEY`: a private key. Its description prints nothing of it.
final class PrivateKey: Sendable, CustomStringConvertible {
  /// As with ``Certificate/pointer``.
  nonisolated(unsafe) let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    EVP_PKEY_free(pointer)
  }

  var description: String { "a private key" }
}
