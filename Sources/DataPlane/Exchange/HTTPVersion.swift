/// A version of HTTP that a client spoke.
package enum HTTPVersion: String, Sendable {
  case http10 = "HTTP/1.0"
  case http11 = "HTTP/1.1"
  case http2 = "HTTP/2"
}
