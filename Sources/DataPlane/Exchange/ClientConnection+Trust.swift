internal import HTTPWire
internal import NIOCore

/// What a trusted proxy says of a request.
extension ClientConnection {
  /// Who is asking: the client behind a trusted proxy that names one, else the peer.
  var client: ClientPeer { exchange.client ?? peer }

  /// Takes the client's address and the request's identifier from a trusted proxy.
  func believeProxy(_ head: borrowing RequestHead, _ bytes: RawSpan) {
    if head.fields.has(.xForwardedFor),
      let address = ForwardedClient.address(head.fields, bytes, trustedProxies: server.trustedProxies)
    {
      exchange.client = ClientPeer(address: address.description, isTrusted: peer.isTrusted, isTLS: peer.isTLS)
    }
    if let line = head.fields.line(.xRequestID), !head.fields.isRepeated(.xRequestID) {
      exchange.requestID.given = RequestIDSource.Identifier.wellFormed(bytes, line.value)
    }
  }
}
