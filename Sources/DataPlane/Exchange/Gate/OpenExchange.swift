package import NIOCore

/// An exchange under way, as its gate reviews it.
package struct OpenExchange {
  /// Its session; nil without one.
  package let session: ConnectionKey?
  /// ``ForwardingDirective/credential`` of its request.
  package let credential: UInt64
  /// The client that sent its request.
  package let client: ClientPeer
  /// Its request's line, authority and `Destination`, written as a whole HTTP/1.1 head.
  package let head: ByteBuffer
  /// Whether the client has been active since the last review: bytes of a body, data frames of a WebSocket.
  package var isActive = false
  /// The gate's own number of the session and configuration that the request was last decided on by.
  package var evaluation = 0

  /// An exchange that was just forwarded: no activity, and no evaluation since.
  package init(session: ConnectionKey?, credential: UInt64, client: ClientPeer, head: ByteBuffer) {
    self.session = session
    self.credential = credential
    self.client = client
    self.head = head
  }
}
