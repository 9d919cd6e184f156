import NIOCore

/// The writes that wait to be encrypted: until the next flush, or until the handshake is finished.
///
/// Promises are fulfilled on a ``Batch`` that was removed before, because their callbacks may write again.
struct PlaintextQueue {
  private var writes: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  /// Whether a flush waits for the end of the handshake, or of another one.
  var isFlushDue = false

  var isEmpty: Bool { writes.isEmpty }
  var byteCount: Int { writes.reduce(0) { $0 + $1.bytes.readableBytes } }

  mutating func append(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
    writes.append((bytes, promise))
  }

  /// Removes all writes.
  mutating func takeAll() -> Batch {
    defer { writes = [] }
    return Batch(writes: writes)
  }

  /// The writes of one flush.
  struct Batch {
    fileprivate let writes: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)]

    /// Encrypts every write in order and passes the ciphertext to `write`; the promise of the last buffer completes
    /// those of all writes.
    func encrypt(
      by connection: TLSConnection, allocator: ByteBufferAllocator,
      write: (ByteBuffer, EventLoopPromise<Void>?) -> Void
    ) throws(TLSError) {
      let promise = joinPromises()
      var plan = RecordPlan(buffers: writes.map(\.bytes), allocator: allocator)
      var room = ciphertextBufferPlaintext
      connection.reserveCiphertext(plaintextBytes: min(plan.bytesLeft, room))
      while let piece = plan.next(limit: room) {
        switch piece.withUnsafeReadableBytes({ connection.write($0) }) {
        case .complete: break
        case .incomplete:
          let error = TLSError.libraryFailure(reason: "OpenSSL did not take what was to be encrypted")
          promise?.fail(error)
          throw error
        case .failed(let error):
          promise?.fail(error)
          throw error
        }
        room -= piece.readableBytes
        // A long write is split into several buffers, which the socket still takes in one call.
        if room < TLSConnection.recordPlaintext, plan.bytesLeft > 0, let ciphertext = connection.takeCiphertext() {
          write(ciphertext, nil)
          room = ciphertextBufferPlaintext
          connection.reserveCiphertext(plaintextBytes: min(plan.bytesLeft, room))
        }
      }
      // Empty writes are fulfilled in their turn, too.
      let rest = connection.takeCiphertext()
      if rest != nil || promise != nil { write(rest ?? ByteBuffer(), promise) }
    }

    /// Fails every write.
    func fail(_ error: any Error) {
      for write in writes { write.promise?.fail(error) }
    }

    /// A promise that completes those of all writes.
    private func joinPromises() -> EventLoopPromise<Void>? {
      var joined: EventLoopPromise<Void>?
      for case let promise? in writes.lazy.map(\.promise) {
        if let joined { joined.futureResult.cascade(to: promise) } else { joined = promise }
      }
      return joined
    }
  }
}

/// The plaintext whose ciphertext goes into one buffer, in bytes: three full records, so that the buffer is one of
/// 64 KiB. From 128 KiB on, the memory of each buffer would come fresh from the kernel, page by page (measured at a
/// third of the whole cost of a megabyte).
private let ciphertextBufferPlaintext = 3 * TLSConnection.recordPlaintext
