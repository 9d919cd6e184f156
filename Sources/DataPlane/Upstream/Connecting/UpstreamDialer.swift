package import NIOCore
internal import SocketTransport

/// Opens connections to upstream addresses.
package enum UpstreamDialer {
  /// Connects in cleartext.
  /// - Parameters:
  ///   - eventLoop: a `SocketEventLoop`; to be called on it.
  ///   - timeout: for each attempt.
  /// - Returns: the channel, active. Fails with `IOError`, `ChannelError` or ``UnresolvedHostError``.
  package static func connect(
    to address: UpstreamAddress, on eventLoop: any EventLoop, timeout: TimeAmount
  ) -> EventLoopFuture<any Channel> {
    var name: NameResolver?
    if case .tcp(let host, let port, _) = address, (try? SocketAddress(ipAddress: host, port: Int(port))) == nil {
      name = NameResolver(host, port: port, lookup: SystemResolver.addresses)
    }
    return beginConnecting(to: address, named: name, on: eventLoop, timeout: timeout).channel
  }

  /// Begins to connect in cleartext, on the event loop.
  /// - Parameter name: looks the host up, where it is a name.
  static func beginConnecting(
    to address: UpstreamAddress, named name: NameResolver?, on eventLoop: any EventLoop, timeout: TimeAmount
  ) -> PendingConnection {
    eventLoop.preconditionInEventLoop()
    guard let loop = eventLoop as? SocketEventLoop else {
      return PendingConnection(channel: eventLoop.makeFailedFuture(ChannelError.operationUnsupported)) {}
    }
    do {
      switch address {
      case .unix(let path):
        return attempt(to: try SocketAddress(unixDomainSocketPath: path), on: loop, timeout: timeout)
      case .tcp(let host, let port, _):
        guard let name else {
          return attempt(to: try SocketAddress(ipAddress: host, port: Int(port)), on: loop, timeout: timeout)
        }
        let dialing = NIOLoopBound(NameDialing(), eventLoop: loop)
        let channel = name.addresses(on: loop).flatMap { addresses in
          dialing.value.begin(on: loop) {
            ConnectionRace.run(
              addresses.map { address in { attempt(to: address, on: loop, timeout: timeout) } },
              inOrderOf: addresses, host: host, on: loop)
          }
        }
        return PendingConnection(channel: channel) { dialing.value.cancel() }
      }
    } catch {
      return PendingConnection(channel: loop.makeFailedFuture(error)) {}
    }
  }

  private static func attempt(
    to address: SocketAddress, on loop: SocketEventLoop, timeout: TimeAmount
  ) -> PendingConnection {
    let attempt = SocketChannel.beginConnecting(to: address, on: loop, timeout: timeout, isKeptAlive: true)
    return PendingConnection(channel: attempt.channel, cancel: attempt.cancel)
  }
}

/// A connection to a name, which is looked up first.
private final class NameDialing {
  private enum State {
    case resolving
    case connecting(PendingConnection)
    case cancelled
  }

  private var state = State.resolving

  /// Connects to the addresses that were found.
  func begin(on eventLoop: any EventLoop, _ race: () -> PendingConnection) -> EventLoopFuture<any Channel> {
    if case .cancelled = state { return eventLoop.makeFailedFuture(CancellationError()) }
    let connection = race()
    state = .connecting(connection)
    return connection.channel
  }

  func cancel() {
    if case .connecting(let connection) = state { connection.cancel() }
    state = .cancelled
  }
}
