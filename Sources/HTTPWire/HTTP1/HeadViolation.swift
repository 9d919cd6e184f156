/// Reason for refusing a head. The raw value appears in logs and metrics.
package enum HeadViolation: String, Error, Sendable, CaseIterable {
  // The request line (RFC 9112, 3)
  case requestLine = "malformed request line"
  case method = "malformed method"
  case methodCase = "method with lower-case letters"
  case target = "malformed request target"
  case version = "HTTP version not supported"
  case connectMethod = "CONNECT is not for a gateway"
  case traceMethod = "TRACE is not passed on"
  case targetTooLong = "request target too long"
  // The status line (RFC 9112, 4)
  case statusLine = "malformed status line"
  case statusRange = "status outside of 100 to 599"
  // Field lines (RFC 9112, 5)
  case fieldName = "malformed field name"
  case fieldValue = "control character in a field value"
  case lineEnding = "line not ended by CR LF"
  case obsoleteFolding = "folded field line"
  case spaceBeforeColon = "white space before the colon"
  case tooManyFields = "too many fields"
  case tooManyNominations = "Connection names too many fields"
  case headTooLarge = "head too large"
  // Host (RFC 9112, 3.2)
  case hostMissing = "Host is missing"
  case hostRepeated = "Host is repeated"
  case hostMalformed = "Host is malformed"
  // Framing (RFC 9112, 6)
  case contentLength = "Content-Length is not a single decimal number"
  case lengthAndEncoding = "Content-Length together with Transfer-Encoding"
  case transferEncoding = "Transfer-Encoding other than chunked"
  case encodingNotChunked = "chunked is not the last transfer coding, once"
  case encodingVersion = "Transfer-Encoding in HTTP/1.0"
  case expectation = "unknown expectation"

  /// The status of the response to the client.
  package var status: Int {
    switch self {
    case .version: 505
    case .connectMethod, .traceMethod: 405
    case .targetTooLong: 414
    case .tooManyFields, .tooManyNominations, .headTooLarge: 431
    case .transferEncoding, .methodCase: 501
    case .expectation: 417
    default: 400
    }
  }
}
