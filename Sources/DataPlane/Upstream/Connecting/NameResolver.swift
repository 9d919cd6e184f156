internal import NIOCore
internal import Synchronization
internal import Threads

/// The name of an upstream's host, looked up again and again while the gateway runs (see ``NameAnswers``).
///
/// The lookup blocks, on a thread of its own: neither an event loop nor another name waits for it. Where the system has
/// no thread left, the lookup fails, as if no name server answered: the old answer is used, and the next lookup tries
/// again.
final class NameResolver: Sendable {
  /// Finds the addresses of a host; empty if there are none. May block.
  typealias Lookup = @Sendable (_ host: String, _ port: UInt16) throws(UnresolvedHostError) -> [SocketAddress]

  let host: String
  private let port: UInt16
  private let lookup: Lookup
  private let worker: SerialWorker
  private let state = Mutex(State())

  private struct State {
    var answers = NameAnswers()
    var waiting: [EventLoopPromise<[SocketAddress]>] = []
  }

  init(
    _ host: String, port: UInt16, worker: SerialWorker = SerialWorker(named: "cordon-name"), lookup: @escaping Lookup
  ) {
    self.host = host
    self.port = port
    self.worker = worker
    self.lookup = lookup
  }

  /// Whether connections wait for a lookup that has not ended, because no address is known.
  var isAwaited: Bool { state.withLock { $0.answers.isAwaited } }

  /// The host's addresses, to be tried in this order; empty where none is found. Fails with ``UnresolvedHostError`` if
  /// none is known and the lookup says why.
  func addresses(on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
    let promise = eventLoop.makePromise(of: [SocketAddress].self)
    let (advice, begins) = state.withLock { state in
      let (advice, begins) = state.answers.ask(at: .now())
      if case .use = advice {} else { state.waiting.append(promise) }
      return (advice, begins)
    }
    switch advice {
    case .use(let addresses): promise.succeed(addresses)
    // A promise is kept once: whichever comes second, answer or old answer, changes nothing.
    case .waitBriefly(let patience, let old): eventLoop.scheduleTask(in: patience) { promise.succeed(old) }
    case .wait: break
    }
    if begins { beginLookup() }
    return promise.futureResult
  }

  private func beginLookup() {
    do throws(ThreadError) {
      try worker.add { [self] in look() }
    } catch {
      answer([], UnresolvedHostError(host: host, reason: .noThread))
    }
  }

  private func look() {
    let found: [SocketAddress]
    let failure: UnresolvedHostError?
    do throws(UnresolvedHostError) {
      found = try lookup(host, port)
      failure = nil
    } catch {
      found = []
      failure = error
    }
    answer(found, failure)
  }

  private func answer(_ found: [SocketAddress], _ failure: UnresolvedHostError?) {
    let waiting = state.withLock { state in
      state.answers.answered(found, at: .now())
      defer { state.waiting = [] }
      return state.waiting.map { ($0, state.answers.next()) }
    }
    for (promise, addresses) in waiting {
      if addresses.isEmpty, let failure { promise.fail(failure) } else { promise.succeed(addresses) }
    }
  }
}
