import NIOCore

/// The writes that wait to be encrypted: until the next flush, or until the handshake is finished.
struct PlaintextQueue {
  private var writes: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []

  var isEmpty: Bool { self.writes.isEmpty }

  mutating func append(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
    self.writes.append((bytes, promise))
  }

  /// Takes everything out, for one flush: the bytes in order, and one promise that fulfils every write's.
  mutating func takeAll() -> (bytes: [ByteBuffer], promise: EventLoopPromise<Void>?) {
    var bytes: [ByteBuffer] = []
    bytes.reserveCapacity(self.writes.count)
    var promise: EventLoopPromise<Void>?
    for write in self.writes {
      bytes.append(write.bytes)
      switch (promise, write.promise) {
      case (let first?, let other?): first.futureResult.cascade(to: other)
      case (nil, let other): promise = other
      case (_, nil): break
      }
    }
    self.writes.removeAll(keepingCapacity: true)
    return (bytes, promise)
  }

  /// Fails every write.
  mutating func fail(_ error: any Error) {
    let writes = self.writes
    self.writes = []
    for write in writes { write.promise?.fail(error) }
  }
}
