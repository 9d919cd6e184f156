internal import HTTPWire
internal import NIOCore

extension OriginClient {
  /// Makes a connection, with TLS where the origin has it, and closes it again: not one byte of a request is sent.
  package func connect() async throws(OriginError) {
    let eventLoop = pool.eventLoop
    let promise = eventLoop.makePromise(of: Void.self)
    let pool = pool
    eventLoop.execute { ConnectingClient(promise).start(pool.value.pool) }
    do {
      try await promise.futureResult.get()
    } catch let error as OriginError {
      throw error
    } catch {
      throw .notSent(String(describing: error))
    }
  }
}

/// Waits for a connection, and wants nothing of it. The pool's own limit of time holds.
private final class ConnectingClient: UpstreamResponseReceiver {
  private let promise: EventLoopPromise<Void>

  init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

  func start(_ pool: UpstreamPool) { pool.connect(for: self) }

  func upstreamReady(_ connection: UpstreamConnection) {
    connection.close()
    promise.succeed()
  }

  func upstreamFailed(_ failure: UpstreamFailure) {
    promise.fail(OriginError.notSent(failure.reason(of: "the server")))
  }

  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming) {}
  func responseContent(_ content: ByteBuffer) {}
  func responseEnded(trailers: [UInt8]) {}
  func flushResponse() {}
  func upstreamWritabilityChanged(_ writable: Bool) {}
  var canTakeResponse: Bool { true }

  var takesBulk: Bool { false }
}
