package import NIOCore
internal import SocketTransport

/// Opens connections to upstream addresses.
package enum UpstreamDialer {
  /// Connects in cleartext.
  /// - Parameters:
  ///   - eventLoop: a `SocketEventLoop`.
  ///   - timeout: for each attempt.
  /// - Returns: the channel, active. Fails with `IOError`, `ChannelError` or ``UnresolvedHost``.
  package static func connect(
    to address: UpstreamAddress, on eventLoop: any EventLoop, timeout: TimeAmount
  ) -> EventLoopFuture<any Channel> {
    var name: NameResolver?
    if case .tcp(let host, let port, _) = address, (try? SocketAddress(ipAddress: host, port: Int(port))) == nil {
      name = NameResolver(host, port: port, lookup: SystemResolver.addresses)
    }
    return connect(to: address, named: name, on: eventLoop, timeout: timeout)
  }

  /// - Parameter name: looks the host up, where it is a name.
  static func connect(
    to address: UpstreamAddress, named name: NameResolver?, on eventLoop: any EventLoop, timeout: TimeAmount
  ) -> EventLoopFuture<any Channel> {
    guard let loop = eventLoop as? SocketEventLoop else {
      return eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    do {
      switch address {
      case .unix(let path):
        return SocketChannel.connect(to: try SocketAddress(unixDomainSocketPath: path), on: loop, timeout: timeout)
      case .tcp(let host, let port, _):
        guard let name else {
          return SocketChannel.connect(
            to: try SocketAddress(ipAddress: host, port: Int(port)), on: loop, timeout: timeout, isKeptAlive: true)
        }
        return name.addresses(on: loop).flatMap { addresses in
          ConnectionRace.run(
            addresses.map { address in
              { SocketChannel.connect(to: address, on: loop, timeout: timeout, isKeptAlive: true) }
            }, inOrderOf: addresses, host: host, on: loop)
        }
      }
    } catch {
      return loop.makeFailedFuture(error)
    }
  }
}

/// A host name without an address.
struct UnresolvedHost: Error, CustomStringConvertible {
  let host: String

  var description: String { "no address for \(host)" }
}
