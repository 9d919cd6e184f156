/// A version of HTTP that a client spoke.
package enum HTTPVersion: String, Sendable {
  /// RFC 1945: connections end with the response unless both sides agree to keep them, and there are no chunks.
  case http10 = "HTTP/1.0"
  /// RFC 9112. Also stands for a request whose version was not read.
  case http11 = "HTTP/1.1"
  /// RFC 9113.
  case http2 = "HTTP/2"
}
