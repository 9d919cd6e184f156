internal import HTTPTypes
internal import HTTPWire
internal import NIOCore
internal import SocketTransport
internal import TLSTransport
internal import WebFormats

/// Sets up connections accepted by one listener on one event loop: applies the connection limit, reads the PROXY header
/// if the peer must send one, then installs TLS and HTTP. Used on that loop only.
final class ConnectionAcceptor {
  let server: ServerContext
  private let loop: SocketEventLoop
  private let admission: ConnectionAdmission
  private let clients: ClientConnections
  /// Receives the address of a peer that did not send the PROXY header that it must send.
  let proxyHeaderMissing: (_ peer: String) -> Void
  /// Use that the descriptors of its connections are counted for.
  let use: DescriptorBudget.Use
  /// Certificates and keys for the connections to come; nil speaks cleartext.
  private var tls: TLSServerContext?
  /// Protocols offered.
  private var protocols: [HTTPProtocol]
  /// Peers that must send a PROXY header.
  private var announcing: [NetworkPrefix]
  /// Rejected connections that their client has not closed yet.
  private var lingering = 0

  /// Maximum number of lingering connections: they hold descriptors, which may be scarce.
  private static let lingeringLimit = 16

  init(
    server: ServerContext, loop: SocketEventLoop, admission: ConnectionAdmission, clients: ClientConnections,
    use: DescriptorBudget.Use, settings: AcceptorSettings, tls: TLSServerContext?,
    proxyHeaderMissing: @escaping (String) -> Void
  ) {
    self.proxyHeaderMissing = proxyHeaderMissing
    self.server = server
    self.loop = loop
    self.admission = admission
    self.clients = clients
    self.use = use
    self.tls = tls
    protocols = settings.spokenProtocols
    announcing = settings.proxyProtocolPeers
  }

  /// Applies a new configuration to connections accepted from now on.
  func apply(_ settings: AcceptorSettings) {
    protocols = settings.spokenProtocols
    announcing = settings.proxyProtocolPeers
  }

  /// Applies new certificates and keys to connections accepted from now on.
  func apply(_ tls: TLSServerContext?) { self.tls = tls }

  /// Sets up an accepted connection, and begins to serve it.
  func receive(_ accepted: ListeningSocket.Accepted) {
    let channel = SocketChannel(accepted, on: loop)
    do {
      try setUp(channel)
      channel.open()
    } catch {
      channel.close(promise: nil)
    }
  }

  private func setUp(_ channel: SocketChannel) throws {
    let (descriptors, use) = (server.loop.descriptors, use)
    // `AcceptGate` pauses the listening socket when no descriptor is left; this handles connections accepted at the
    // same moment, and those of other loops.
    guard descriptors.take(use) else { return channel.close(promise: nil) }
    guard admission.enter() else {
      channel.closeFuture.whenComplete { _ in descriptors.give(use) }
      return try reject(channel)
    }
    let admission = admission
    channel.closeFuture.whenComplete { _ in
      admission.release()
      descriptors.give(use)
    }
    channel.receiveBufferMode = .frugal
    // The end of what a client sends is not the end of its connection. Each handler of an accepted channel has to close
    // it at `ChannelEvent.inputClosed`, or to let it be answered first.
    channel.allowsRemoteHalfClosure = true
    let address = channel.remoteAddress?.ipText
    if !announcing.isEmpty, let address, let bytes = IPAddress(address),
      announcing.contains(where: { $0.contains(bytes) })
    {
      try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler(acceptor: self, peer: server.peer(address)))
    } else {
      try open(channel, for: server.peer(address))
    }
  }

  /// Installs TLS and HTTP on a connection, unless its client has as many as it may have: then it is closed.
  func open(_ channel: any Channel, for peer: ClientPeer) throws {
    switch clients.enter(peer) {
    case .uncounted: break
    case .counted(let key):
      let clients = clients
      channel.closeFuture.whenComplete { _ in clients.leave(key) }
    case .refused:
      // Without a response: a flood of connections must not cost a handshake or a page each.
      server.observer.connectionRefused(of: peer.address)
      return channel.close(promise: nil)
    }
    let pipeline = channel.pipeline.syncOperations
    if let tls {
      let server = server
      try pipeline.addHandler(
        try TLSHandler(server: tls, onPlainHTTP: { channel in Self.refusePlainHTTP(on: channel, server, peer) }))
    }
    if protocols == [.http1] {
      try pipeline.addHandler(HTTP1ServerConnection(server: server, peer: peer))
    } else {
      try pipeline.addHandler(ALPNHandler(server: server, peer: peer, protocols: protocols))
    }
  }

  /// Answers a client that speaks plain HTTP on a TLS port: the answer goes past TLS, and is all that there is.
  private static func refusePlainHTTP(on channel: any Channel, _ server: ServerContext, _ peer: ClientPeer) {
    server.observer.handshakeFailed(.plainHTTP, of: peer.address)
    let refusal = RejectedConnection(response: answerToPlainHTTP(server, peer), wheel: server.loop.wheel)
    do {
      try channel.pipeline.syncOperations.addHandler(refusal, position: .first)
    } catch {
      channel.close(promise: nil)
    }
  }

  private static func answerToPlainHTTP(_ server: ServerContext, _ peer: ClientPeer) -> ByteBuffer {
    let requestID = server.loop.requestIDs.next()
    let response = ControlResponse(
      .badRequest, fields: [.contentType: "text/plain; charset=utf-8"],
      body: Array("This port speaks HTTPS. Use an address that begins with https://\n".utf8))
    server.recordRejection(status: 400, sentBytes: response.body.count, client: peer.address, requestID)
    return server.rejection(response, requestID)
  }

  /// The client that a PROXY header announces. Its address replaces that of the socket everywhere: it is forwarded and
  /// logged, and `X-Forwarded-For` is believed only if that address is a trusted proxy.
  func peer(_ source: ProxyHeader.Source, of channel: any Channel) -> ClientPeer {
    switch source {
    case .peer: server.peer(channel.remoteAddress?.ipText)
    case .unknown: server.peer(forUnknownClientOf: channel.remoteAddress?.ipText)
    case .address(let bytes): server.peer(IPAddress(bytes: bytes)?.description)
    case .unix: server.peer(nil)
    }
  }

  // MARK: Connection limit

  /// Answers 503 on a connection beyond the limit. Over TLS it is closed: a handshake would cost too much.
  private func reject(_ channel: any Channel) throws {
    let requestID = server.loop.requestIDs.next()
    let client = channel.remoteAddress?.ipText ?? ClientPeer.unix
    server.recordRejection(status: 503, sentBytes: 0, client: client, requestID)
    guard tls == nil, announcing.isEmpty, lingering < Self.lingeringLimit else { return channel.close(promise: nil) }
    let response = server.gate.failure(
      status: 503, reason: "too many connections", preferences: .unknown, requestID: requestID.description)
    lingering += 1
    try channel.pipeline.syncOperations.addHandler(
      RejectedConnection(response: server.rejection(response, requestID), wheel: server.loop.wheel) {
        self.lingering -= 1
      })
  }
}
