internal import NIOCore
internal import TLSTransport

/// Opens channels to one address of an upstream, directly or through an HTTP proxy. Used on its event loop only.
struct EndpointConnector {
  private let endpoint: UpstreamEndpoint
  private let eventLoop: any EventLoop
  private let timeout: TimeAmount
  /// TLS sessions with the address, and the context that they were made with.
  private var sessions: (context: TLSClientContext, sessions: TLSClientSessions)?

  /// - Parameter timeout: for each attempt to connect.
  init(_ endpoint: UpstreamEndpoint, on eventLoop: any EventLoop, timeout: TimeAmount) {
    self.endpoint = endpoint
    self.eventLoop = eventLoop
    self.timeout = timeout
  }

  /// Begins to connect. The channel has no handler for TLS yet: see ``makeTLSHandler()``.
  func connect() -> PendingConnection {
    guard let proxy = endpoint.proxy, case .tcp(let host, let port, _) = endpoint.address else {
      return connect(to: endpoint.address)
    }
    // Before the time for the whole connection is over, so that the failure names the proxy.
    let replyTimeout = max(timeout - .seconds(1), .milliseconds(100))
    let connection = connect(to: proxy.address)
    let tunnel = connection.channel.flatMap { channel in
      ProxyTunnelHandler.open(proxy, to: host, port: port, on: channel, timeout: replyTimeout)
    }
    return PendingConnection(channel: tunnel) {
      connection.cancel()
      // It may be connected to the proxy, and wait for the tunnel.
      connection.channel.whenSuccess { $0.close(promise: nil) }
    }
  }

  private func connect(to address: UpstreamAddress) -> PendingConnection {
    UpstreamDialer.beginConnecting(to: address, named: endpoint.name, on: eventLoop, timeout: timeout)
  }

  /// Makes the TLS handler of a channel.
  /// - Returns: nil where the address is spoken to in cleartext.
  mutating func makeTLSHandler() throws -> TLSHandler? {
    guard let tls = endpoint.tls else { return nil }
    let context = tls.context
    // Sessions are of the context that they were made with: what it believed and showed.
    if sessions?.context !== context { sessions = (context, TLSClientSessions()) }
    let host = if case .tcp(let host, _, _) = endpoint.address { host } else { "localhost" }
    return try TLSHandler(client: context, serverName: tls.settings.serverName ?? host, sessions: sessions?.sessions)
  }
}
