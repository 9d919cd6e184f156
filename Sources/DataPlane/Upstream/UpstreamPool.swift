internal import HTTPWire
internal import NIOCore
internal import NIOPosix
internal import TLSTransport

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The connections of one event loop to one upstream: kept when a response is over, and used again, newest first.
///
/// A connection is made for the client that asks for it; whichever of client and connection is ready first waits for
/// the other. A connection whose client has gone in the meantime is kept for the next.
final class UpstreamPool {
  private let loop: LoopResources
  private let address: UpstreamAddress
  private let waits: UpstreamWaits
  private let tls: TLSClientContext?
  private let idleLimit: Int
  private let told: (Event) -> Void
  private var idle: [UpstreamConnection] = []
  /// Connections on their way, and who waits for each.
  private var connecting: [ObjectIdentifier: Waiter] = [:]
  private(set) var isClosed = false

  /// What becomes of connections.
  enum Event {
    /// One is ready for use, so long after it was wanted.
    case opened(after: TimeAmount)
    /// One that was opened has ended.
    case ended
  }

  private struct Waiter {
    let connection: UpstreamConnection
    let began: NIODeadline
    weak var client: (any ExchangeClient)?
  }

  /// - Parameter told: of connections that open and end. Whoever asked for one is told when there is none.
  init(
    loop: LoopResources, settings: UpstreamSettings, tls: TLSClientContext?, told: @escaping (Event) -> Void
  ) {
    self.loop = loop
    address = settings.address
    waits = UpstreamWaits(settings.timeouts)
    self.tls = tls
    idleLimit = settings.idleConnectionsPerLoop
    self.told = told
  }

  /// The newest idle connection.
  @inline(__always)
  func takeIdle() -> UpstreamConnection? { idle.popLast() }

  /// Makes a connection for `client`, who is told by `upstreamReady` or `upstreamFailed`.
  func connect(for client: any ExchangeClient) {
    let connection = UpstreamConnection(loop: loop, pool: self, timeouts: waits, awaitsHandshake: tls != nil)
    let now = NIODeadline.now()
    connecting[ObjectIdentifier(connection)] = Waiter(connection: connection, began: now, client: client)
    connection.awaitConnection(now: now)
    let bound = NIOLoopBound((self, connection), eventLoop: loop.eventLoop)
    let serverName = if case .tcp(let host, _, _) = address { host } else { "localhost" }
    let tls = tls
    let bootstrap = ClientBootstrap(group: loop.eventLoop)
      .connectTimeout(waits.connect)
      .channelOption(.maxMessagesPerRead, value: 1)
    let opened: EventLoopFuture<any Channel> =
      switch address {
      case .tcp(let host, let port, _): bootstrap.connect(host: host, port: Int(port))
      case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
      }
    // The handlers go to the channel that is connected: a name with several addresses is tried on several channels.
    opened.whenComplete { result in
      let (pool, connection) = bound.value
      switch result {
      case .failure(let error): pool.ended(connection, failure: Self.failure(error))
      case .success(let channel):
        guard connection.isConnecting else { return channel.close(promise: nil) }
        let pipeline = channel.pipeline.syncOperations
        do {
          if let tls { try pipeline.addHandler(try TLSHandler(client: tls, serverName: serverName)) }
          try pipeline.addHandler(connection)
        } catch {
          pool.ended(connection, failure: .handshake(String(describing: error)))
          channel.close(promise: nil)
        }
      }
    }
  }

  /// Takes a connection back whose exchange is over.
  func release(_ connection: UpstreamConnection) {
    idle.append(connection)
    connection.awaitUse(now: .now())
    if idle.count > idleLimit { idle.removeFirst().close() }
  }

  /// Forgets an idle connection.
  func remove(_ connection: UpstreamConnection) {
    if let place = idle.lastIndex(where: { $0 === connection }) { idle.remove(at: place) }
  }

  /// Closes what is idle, and keeps nothing from now on.
  func close() {
    isClosed = true
    let connections = idle
    idle = []
    for connection in connections { connection.close() }
  }

  // MARK: For the connection

  func established(_ connection: UpstreamConnection) {
    let waiter = connecting.removeValue(forKey: ObjectIdentifier(connection))
    connection.isCounted = true
    told(.opened(after: waiter.map { .now() - $0.began } ?? .zero))
    if let client = waiter?.client {
      client.upstreamReady(connection)
    } else if isClosed {
      connection.close()
    } else {
      release(connection)
    }
  }

  /// - Parameter failure: what to tell the client that waits for a connection on its way.
  func ended(_ connection: UpstreamConnection, failure: UpstreamFailure) {
    if let waiter = connecting.removeValue(forKey: ObjectIdentifier(connection)) {
      waiter.client?.upstreamFailed(failure)
    } else if connection.isCounted {
      connection.isCounted = false
      remove(connection)
      told(.ended)
    }
  }

  /// The system's words for a failed connect, without the type names around them.
  private static func failure(_ error: any Error) -> UpstreamFailure {
    switch error {
    case ChannelError.connectTimeout: return .connectTimeout
    case let error as IOError: return .connect(String(cString: strerror(error.errnoCode)))
    case let error as NIOConnectionError:
      if let single = error.connectionErrors.first { return failure(single.error) }
      return .unresolved("no address for \(error.host)")
    default: return .connect(String(describing: error))
    }
  }
}
