internal import HTTPWire
internal import NIOCore

/// Writes the trailer section of a body without fields that could frame, route, authenticate or identify (RFC 9110,
/// 6.5.1): an application that merges trailers into the header could not distinguish them from header fields.
enum TrailerForwarding {
  /// Writes the last chunk, the trailers that may pass, and the end.
  static func write(_ trailers: [UInt8], rules: ForwardingRules, to buffer: inout ByteBuffer) {
    buffer.writeStaticString("0\r\n")
    forEachPassing(trailers, rules: rules) { line, bytes in
      buffer.writeBytes(bytes.extracting(Int(line.start)..<Int(line.end)))
    }
    buffer.writeStaticString("\r\n")
  }

  /// The lines of the trailers that may pass.
  static func passing(_ trailers: [UInt8], rules: ForwardingRules) -> [UInt8] {
    var lines: [UInt8] = []
    forEachPassing(trailers, rules: rules) { line, bytes in lines += bytes.array(Int(line.start)..<Int(line.end)) }
    return lines
  }

  private static func forEachPassing(
    _ trailers: [UInt8], rules: ForwardingRules, _ body: (FieldLine, RawSpan) -> Void
  ) {
    TrailerSection.forEachLine(trailers) { line, bytes in
      guard rules.passesAsTrailer(line, bytes), !forbidden.contains(bytes, line.name) else { return }
      body(line, bytes)
    }
  }

  /// Known names in other spellings, and what has a meaning before the body only.
  private static let forbidden = ReservedNames([
    "Cookie", "Set-Cookie", "Authorization", "Content-Length", "Content-Encoding", "Content-Type", "Content-Range",
    "Transfer-Encoding", "Host", "Connection", "Trailer", "Cache-Control", "Max-Forwards", "Range", "Expect",
    "WWW-Authenticate", "Location", "Date", "Age", "Expires", "Vary", "X-Real-IP", "X-Request-Id",
    "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
  ])
}
