package import HTTPTypes
internal import HTTPWire

/// A whole request, as the control plane sees it.
package struct ControlRequest: Sendable {
  /// Method, scheme, authority, path with query, and fields.
  package var head: HTTPRequest
  /// Its whole body, without trailers.
  package var body: [UInt8]
  /// The client that sent it.
  package var client: ClientPeer
  /// The request ID, as in `X-Request-Id` and the log.
  package var requestID: String

  /// A request whose body has come in full and is within ``EndpointAction/bodyLimit``.
  package init(head: HTTPRequest, body: [UInt8] = [], client: ClientPeer, requestID: String) {
    self.head = head
    self.body = body
    self.client = client
    self.requestID = requestID
  }
}

/// Converts a head that was parsed for the control plane.
enum ControlRequestReading {
  static func request(_ head: borrowing RequestHead, _ bytes: RawSpan, scheme: String) -> HTTPRequest {
    HTTPRequest(
      method: HTTPRequest.Method(bytes.string(head.methodRange)) ?? .get, scheme: scheme,
      authority: bytes.string(head.authority), path: bytes.string(head.pathAndQuery),
      headerFields: HTTPFields(head.fields, bytes))
  }
}
