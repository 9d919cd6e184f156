internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import HTTPWire
internal import WebFormats

/// `GET session?peek=1`: tells when a session ends, and does not count as a use of it.
enum SessionPeek {
  /// Whether a query asks for it.
  /// - Parameter query: with its question mark; empty without one.
  static func isAsked(_ bytes: RawSpan, _ query: Range<Int>) -> Bool {
    bytes.hasQueryItem("peek=1", in: query)
  }

  /// Whether a request to an endpoint asks for it.
  static func isAsked(_ request: ControlRequest) -> Bool {
    let target = Array((request.head.path ?? "").utf8)
    guard let question = target.firstIndex(of: UInt8(ascii: "?")) else { return false }
    return isAsked(target.span.bytes, question..<target.count)
  }

  /// The answer.
  /// - Parameters:
  ///   - ends: the end of the session's lifetime; nil if it has none.
  ///   - idleEnds: the end of its idle time, were it never used again; nil if it has none.
  static func response(ends: Date?, idleEnds: Date?) -> ControlResponse {
    var json = JSONWriter(escapesMarkup: true)
    json.object { json in
      if let ends { json.string("ends", ends.ISO8601Format()) }
      if let idleEnds { json.string("idle_ends", idleEnds.ISO8601Format()) }
    }
    return .json(json.bytes)
  }
}
