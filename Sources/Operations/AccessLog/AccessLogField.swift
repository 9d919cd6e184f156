/// A field of the access log's lines, by the key that it has there. A line has `time` and `kind` before them.
package enum AccessLogField: String, Sendable, CaseIterable {
  /// The request's identifier, as the upstream got it in `X-Request-Id`.
  case request
  /// The request's method.
  case method
  /// Without the query, which can contain authorization codes and other secrets.
  case path
  /// The version of HTTP that the client speaks.
  case version
  /// The status that was sent; 499 if the client disconnected before.
  case status
  /// Bytes of the request's body that were read.
  case bytesIn = "bytes_in"
  /// Bytes of the response's body that were written.
  case bytesOut = "bytes_out"
  /// From the complete request header to the last byte of the response.
  case duration
  /// The part of it from sending the request upstream to the response header.
  case upstream
  /// The rest of it: the gateway's own time, and the time of client and upstream for the bodies.
  case gateway
  /// The address that the request was sent to.
  case upstreamAddress = "upstream_address"
  /// The route's class or path of the configuration.
  case route
  /// A keyed hash that identifies the user.
  case user
  /// The client's address, as determined from trusted proxies.
  case peer
  /// The reason why the exchange failed, as a short constant (`upstream_timeout`).
  case failure
  /// The authority that the request named.
  case host
  /// `User-Agent` of the request.
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
