internal import HTTPWire

/// A mistake in the responses of an application that can be repaired. The forwarded response is well-formed.
package enum UpstreamLenience: String, Sendable, Equatable, CaseIterable {
  /// Lines of the head that end with LF alone.
  case bareLF = "bare-lf"
  /// `Content-Length` more than once, with the same value.
  case duplicateLength = "duplicate-length"
  /// `Transfer-Encoding: chunked` more than once, or beside `Content-Length`, which is dropped.
  case duplicateFraming = "duplicate-framing"
  /// A status from 600 to 999.
  case statusRange = "status-range"
  /// Control characters in the values of fields: each becomes a space.
  case controlBytes = "control-bytes"

  var onTheWire: ResponseLenience {
    switch self {
    case .bareLF: .bareLF
    case .duplicateLength: .duplicateLength
    case .duplicateFraming: .duplicateFraming
    case .statusRange: .statusRange
    case .controlBytes: .controlBytes
    }
  }
}
