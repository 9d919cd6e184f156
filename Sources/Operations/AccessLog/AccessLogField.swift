/// A field of the access log's lines, by the key that it has there. A line has `time` and `kind` before them.
package enum AccessLogField: String, Sendable, CaseIterable {
  /// The request's identifier, as the upstream got it in `X-Request-Id`.
  case request
  case method
  /// Never the query: it can hold authorization codes and other secrets.
  case path
  case version
  case status
  case bytesIn = "bytes_in"
  case bytesOut = "bytes_out"
  /// From the whole head of the request to the last byte of the response.
  case duration
  /// Of that, from the request being sent upstream to the head of the answer.
  case upstream
  /// Of that, the rest: the gateway's own time, and what client and upstream took for the bodies.
  case gateway
  /// The address that the request was sent to.
  case upstreamAddress = "upstream_address"
  case route
  /// A keyed hash that identifies the user.
  case user
  case peer
  case failure
  /// The authority that the request named.
  case host
  case userAgent = "user_agent"
  /// Without its query.
  case referer
  /// The identifier of the trace that the request belongs to (`traceparent`, W3C Trace Context): 32 hexadecimal digits.
  case trace

  /// The default fields of a line.
  package static let standard: [AccessLogField] = [
    .request, .method, .path, .version, .status, .bytesIn, .bytesOut, .duration, .upstream, .route, .user, .peer,
    .failure,
  ]

  /// The fields of the Combined Log Format.
  package static let combined: [AccessLogField] = [
    .peer, .user, .method, .path, .version, .status, .bytesOut, .referer, .userAgent,
  ]
}
