import COpenSSL
import NIOCore

/// Connects OpenSSL and the socket: an OpenSSL BIO that reads directly from the ByteBuffer that the socket filled and
/// writes directly into the outbound one. OpenSSL's memory BIO would copy every byte a second time in each
/// direction, and clear its whole buffer at each reset.
///
/// The BIO knows this object by an unretained pointer: the ``TLSConnection`` that owns both frees the SSL object, and
/// with it the BIO, before it releases this.
final class CiphertextPipe {
  /// Bytes from the socket that OpenSSL has not read yet.
  private var incoming = ByteBuffer()
  /// Bytes from OpenSSL that are not written to the socket yet.
  private var outgoing = ByteBuffer()

  /// The number of bytes that OpenSSL has not read yet.
  var incomingBytes: Int { incoming.readableBytes }

  func receive(_ bytes: ByteBuffer) {
    if incoming.readableBytes == 0 {
      incoming = bytes
    } else {
      incoming.writeImmutableBuffer(bytes)
    }
  }

  /// Takes the bytes that OpenSSL wrote since the last call; nil for none. An idle pipe holds no memory.
  func takeOutgoing() -> ByteBuffer? {
    guard outgoing.readableBytes > 0 else { return nil }
    defer { outgoing = ByteBuffer() }
    return outgoing
  }

  /// Whether the bytes from OpenSSL begin with a HelloRetryRequest: a ServerHello with a certain random value, after
  /// the headers of record and message, and the version (RFC 8446, 4.1.3).
  var outgoingIsRetryRequest: Bool {
    let bytes = outgoing.readableBytesView
    return bytes.first == 22 && bytes.dropFirst(5).first == 2
      && bytes.dropFirst(11).prefix(Self.retryRandom.count).elementsEqual(Self.retryRandom)
  }

  /// SHA-256 of "HelloRetryRequest".
  private static let retryRandom: [UInt8] = [
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
  ]

  /// Makes room for `bytes` more bytes of ciphertext in one allocation.
  func reserveOutgoing(bytes: Int) {
    outgoing.reserveCapacity(minimumWritableBytes: bytes)
  }

  /// A new BIO for this pipe, nil when OpenSSL has no memory. The caller gives it to an SSL object, which then owns it.
  func makeBIO() -> OpaquePointer? {
    guard let method = CiphertextBIOMethod.shared.pointer, let bio = BIO_new(method) else { return nil }
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
    return bio
  }

  /// Moves up to `capacity` incoming bytes to `target`, and returns their number.
  fileprivate func read(into target: UnsafeMutableRawPointer, capacity: Int) -> Int {
    let count = incoming.readWithUnsafeReadableBytes { source in
      let count = min(capacity, source.count)
      if count > 0 { target.copyMemory(from: source.baseAddress!, byteCount: count) }
      return count
    }
    // Releases the storage as soon as it is empty.
    if incoming.readableBytes == 0 { incoming = ByteBuffer() }
    return count
  }

  fileprivate func write(_ source: UnsafeRawBufferPointer) {
    outgoing.writeBytes(source)
  }
}

/// The table of functions of our kind of BIO, made once and kept as long as the process lives.
private final class CiphertextBIOMethod: Sendable {
  static let shared = CiphertextBIOMethod()

  /// Written once here and only read afterwards, by OpenSSL too: a BIO_METHOD is constant once BIOs are made of it.
  nonisolated(unsafe) let pointer: OpaquePointer?

  private init() {
    pointer = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cordon ciphertext")
    BIO_meth_set_read(pointer) { bio, target, capacity in
      guard let bio, let wire = pipe(of: bio) else { return -1 }
      cordon_BIO_clear_retry_flags(bio)
      guard let target, capacity > 0 else { return 0 }
      let count = wire.read(into: UnsafeMutableRawPointer(target), capacity: Int(capacity))
      guard count > 0 else {
        // Reports "nothing yet", never an end of file: the handler decides whether the end of the connection is clean.
        cordon_BIO_set_retry_read(bio)
        return -1
      }
      return Int32(count)
    }
    BIO_meth_set_write(pointer) { bio, source, count in
      guard let bio, let wire = pipe(of: bio) else { return -1 }
      cordon_BIO_clear_retry_flags(bio)
      guard let source, count > 0 else { return 0 }
      wire.write(UnsafeRawBufferPointer(start: source, count: Int(count)))
      return count
    }
    BIO_meth_set_ctrl(pointer) { _, command, _, _ in
      // A flush has nothing to do; every other question is answered "no".
      command == BIO_CTRL_FLUSH ? 1 : 0
    }
  }
}

private func pipe(of bio: OpaquePointer) -> CiphertextPipe? {
  guard let data = BIO_get_data(bio) else { return nil }
  return Unmanaged<CiphertextPipe>.fromOpaque(data).takeUnretainedValue()
}
