/// Reason for refusing a head. The raw value appears in logs and metrics.
package enum HeadViolation: String, Error, Sendable, CaseIterable {
  // The request line (RFC 9112, 3)
  /// Not `method SP request-target SP HTTP-version CR LF`, with single spaces (RFC 9112, 3).
  case requestLine = "malformed request line"
  /// A method of more than 32 characters.
  case method = "malformed method"
  /// Some servers read `get` as GET, which rules about methods would not match (RFC 9110, 9.1).
  case methodCase = "method with lower-case letters"
  /// Empty, a control character, a fragment, or a form other than the three served here (RFC 9112, 3.2).
  case target = "malformed request target"
  /// The major version is not 1, or the minor one neither 0 nor 1 (RFC 9110, 2.5).
  case version = "HTTP version not supported"
  /// CONNECT is for forward proxies (RFC 9110, 9.3.6).
  case connectMethod = "CONNECT is not for a gateway"
  /// The response to TRACE would show the fields that the gateway adds (RFC 9110, 9.3.8).
  case traceMethod = "TRACE is not passed on"
  /// The target is longer than ``HeadLimits/targetBytes``.
  case targetTooLong = "request target too long"
  // The status line (RFC 9112, 4)
  /// Not `HTTP-version SP status-code SP [ reason-phrase ] CR LF` (RFC 9112, 4).
  case statusLine = "malformed status line"
  /// No status code (RFC 9110, 15). ``ResponseLenience/statusRange`` lets those from 600 on pass.
  case statusRange = "status outside of 100 to 599"
  // Field lines (RFC 9112, 5)
  /// A name is empty, or has a character that is not of a token (RFC 9110, 5.1).
  case fieldName = "malformed field name"
  /// Any control character but the tab, also in a reason phrase. RFC 9110, 5.5 refuses NUL, CR and LF.
  case fieldValue = "control character in a field value"
  /// A lone CR or a lone LF, which only some readers take for the end of a line (RFC 9112, 2.2).
  case lineEnding = "line not ended by CR LF"
  /// A line that begins with white space (RFC 9112, 5.2).
  case obsoleteFolding = "folded field line"
  /// Requests with it must be refused (RFC 9112, 5.1): readers disagree about the name.
  case spaceBeforeColon = "white space before the colon"
  /// More field lines than ``HeadLimits/fieldCount``.
  case tooManyFields = "too many fields"
  /// More than 64 of them: each field is compared with each (RFC 9110, 7.6.1).
  case tooManyNominations = "Connection names too many fields"
  /// The head is longer than ``HeadLimits/headBytes``.
  case headTooLarge = "head too large"
  // Host (RFC 9112, 3.2)
  /// HTTP/1.1 requires the field, also with a target in absolute form.
  case hostMissing = "Host is missing"
  /// Two readers may choose different ones.
  case hostRepeated = "Host is repeated"
  /// Not `uri-host [ ":" port ]` (RFC 9110, 7.2).
  case hostMalformed = "Host is malformed"
  // Framing (RFC 9112, 6)
  /// Several lines, a list, a sign, or a number that is too large (RFC 9110, 8.6).
  case contentLength = "Content-Length is not a single decimal number"
  /// An attempt to make two readers disagree about the end of the message (RFC 9112, 6.3 and 11.2).
  case lengthAndEncoding = "Content-Length together with Transfer-Encoding"
  /// Other codings before chunked, which the gateway does not decode (RFC 9112, 6.1).
  case transferEncoding = "Transfer-Encoding other than chunked"
  /// The end of the message is unknown (RFC 9112, 6.3).
  case encodingNotChunked = "chunked is not the last transfer coding, once"
  /// HTTP/1.0 does not know the field: another reader may ignore it (RFC 9112, 6.1).
  case encodingVersion = "Transfer-Encoding in HTTP/1.0"
  /// `Expect` other than a single `100-continue` (RFC 9110, 10.1.1).
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
