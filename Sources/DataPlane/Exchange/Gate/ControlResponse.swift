package import HTTPTypes

/// A whole response of the gateway's own.
package struct ControlResponse: Sendable {
  /// Status and fields; `Content-Length` is added when it is sent.
  package var head: HTTPResponse
  /// Its whole body; empty for none.
  package var body: [UInt8]

  /// A response; without a body it is sent with `Content-Length: 0` where the status allows one.
  package init(_ status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
    head = HTTPResponse(status: status, headerFields: fields)
    self.body = body
  }
}
