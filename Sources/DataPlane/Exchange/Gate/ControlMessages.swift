package import HTTPTypes
internal import HTTPWire

/// A whole request, as the control plane sees it.
package struct ControlRequest: Sendable {
  /// Method, scheme, authority, path with query, and fields.
  package var head: HTTPRequest
  package var body: [UInt8]
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

/// A whole response of the gateway's own.
package struct ControlResponse: Sendable {
  /// Status and fields; `Content-Length` is added when it is sent.
  package var head: HTTPResponse
  package var body: [UInt8]

  /// A response; without a body it is sent with `Content-Length: 0` where the status allows one.
  package init(_ status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
    head = HTTPResponse(status: status, headerFields: fields)
    self.body = body
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
