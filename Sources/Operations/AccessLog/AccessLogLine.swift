internal import WebFormats

/// One request, as one line of the access log.
///
/// Fields from the wire are bytes, passed when the line is written, and escaped there. Only the path of the target is
/// logged: a query can contain authorization codes and other secrets.
package struct AccessLogLine: Sendable, Equatable {
  /// The time at which the request header was complete.
  package var time: Timestamp
  /// The protocol, `HTTP/1.1` for example.
  package var version: String
  /// The status that was sent; 499 if the client disconnected before.
  package var status: Int
  /// Bytes of the request's body that were read.
  package var bytesIn: UInt64
  /// Bytes of the response's body that were written.
  package var bytesOut: UInt64
  /// Nanoseconds from the whole head of the request to the last byte of the response.
  package var durationNanoseconds: UInt64
  /// Nanoseconds from sending the request upstream to the response header; nil if it was not sent or not answered.
  package var upstreamNanoseconds: UInt64?
  /// The route's class or path of the configuration.
  package var route: String
  /// A keyed hash that identifies the user; nil without a session.
  package var user: UInt64?
  /// The client's address, as determined from trusted proxies.
  package var peer: String
  /// The reason why the exchange failed, for example `upstream_timeout`; nil if it succeeded.
  package var failure: String?
  /// The address that it was sent to; nil if it was not forwarded.
  package var upstreamAddress: String?

  /// The line of a request; by default of one over HTTP/1.1 that was not forwarded.
  package init(
    time: Timestamp, version: String = "HTTP/1.1", status: Int, bytesIn: UInt64, bytesOut: UInt64,
    durationNanoseconds: UInt64, upstreamNanoseconds: UInt64? = nil, route: String, user: UInt64? = nil,
    peer: String, failure: String? = nil, upstreamAddress: String? = nil
  ) {
    self.time = time
    self.version = version
    self.status = status
    self.bytesIn = bytesIn
    self.bytesOut = bytesOut
    self.durationNanoseconds = durationNanoseconds
    self.upstreamNanoseconds = upstreamNanoseconds
    self.route = route
    self.user = user
    self.peer = peer
    self.failure = failure
    self.upstreamAddress = upstreamAddress
  }

  /// Appends the line with its line feed. Allocates only if `buffer` grows.
  /// - Parameters:
  ///   - request: method, a space, and the target; the part from the first `?` or `#` is not rendered. Then, if
  ///     needed, `Host`, `User-Agent`, `Referer` and the trace, each after a NUL, which no header can contain.
  ///   - fields: the fields of the line, in this order; unknown values are left out.
  ///   - hidden: a path prefix after which nothing is rendered, in the target and in `Referer`, because it is secret.
  ///     Empty for none.
  ///   - requestID: the request's identifier, as the upstream got it in `X-Request-Id`.
  package func append(
    request: Span<UInt8>, requestID: Span<UInt8>, fields: [AccessLogField] = AccessLogField.standard,
    hidden: [UInt8] = [], to buffer: inout LogBuffer, as format: LineFormat
  ) {
    let head = request.extracting(request.part(.head))
    let methodEnd = head.firstIndex { $0 == UInt8(ascii: " ") }
    let target = head.extracting(min(methodEnd + 1, head.count)..<head.count)
    var line = LogFormatter(consume buffer, format: format)
    line.time(time)
    line.kind("access")
    for field in fields {
      switch field {
      case .request: line.string("request", requestID)
      case .method: line.string("method", head.extracting(..<methodEnd))
      case .path:
        line.string("path", target.extracting(..<min(target.queryStart, target.end(ofPath: hidden))))
      case .version: line.string("version", version)
      case .status: line.integer("status", UInt64(clamping: status))
      case .bytesIn: line.integer("bytes_in", bytesIn)
      case .bytesOut: line.integer("bytes_out", bytesOut)
      case .duration: line.seconds("duration", nanoseconds: durationNanoseconds)
      case .upstream: if let upstreamNanoseconds { line.seconds("upstream", nanoseconds: upstreamNanoseconds) }
      case .gateway:
        line.seconds("gateway", nanoseconds: durationNanoseconds - min(upstreamNanoseconds ?? 0, durationNanoseconds))
      case .upstreamAddress: if let upstreamAddress { line.string("upstream_address", upstreamAddress) }
      case .route: line.string("route", route)
      case .user: if let user { line.pseudonym("user", user) }
      case .peer: line.string("peer", peer)
      case .failure: if let failure { line.string("failure", failure) }
      case .host: Self.append(&line, "host", request.extracting(request.part(.host)))
      case .userAgent: Self.append(&line, "user_agent", request.extracting(request.part(.userAgent)))
      case .referer: Self.append(&line, "referer", request.extracting(Self.referer(request, hidden)))
      case .trace: Self.append(&line, "trace", request.extracting(request.part(.trace)))
      }
    }
    buffer = line.end()
  }

  /// The range of `Referer` without its query and the hidden part.
  private static func referer(_ request: Span<UInt8>, _ hidden: [UInt8]) -> Range<Int> {
    let part = request.part(.referer)
    let referer = request.extracting(part)
    return part.lowerBound..<part.lowerBound + min(referer.queryStart, referer.end(behind: hidden))
  }

  /// Appends the line in the Combined Log Format of Apache and nginx, which tools for web statistics read:
  ///
  ///     203.0.113.7 - 000000000000009f [21/Nov/2026:07:36:30 +0000] "GET /a HTTP/1.1" 200 1300 "REFERER" "USER-AGENT"
  ///
  /// - Parameters: as of ``append(request:requestID:fields:hidden:to:as:)``, with the fields of
  ///   ``AccessLogField/combined``.
  package func appendCombined(request: Span<UInt8>, hidden: [UInt8] = [], to buffer: inout LogBuffer) {
    let head = request.extracting(request.part(.head))
    let methodEnd = head.firstIndex { $0 == UInt8(ascii: " ") }
    let target = head.extracting(min(methodEnd + 1, head.count)..<head.count)
    CombinedText.append(peer.utf8Span.span, to: &buffer)
    buffer.append(" - ")
    if let user {
      buffer.append(hexadecimal: user)
    } else {
      buffer.append("-")
    }
    buffer.append(" [")
    time.appendCommon(to: &buffer)
    buffer.append("] \"")
    CombinedText.append(head.extracting(..<methodEnd), to: &buffer)
    buffer.append(" ")
    CombinedText.append(target.extracting(..<min(target.queryStart, target.end(ofPath: hidden))), to: &buffer)
    buffer.append(" ")
    buffer.append(version.utf8Span.span)
    buffer.append("\" ")
    Decimal.append(UInt64(clamping: status), width: 3, to: &buffer)
    buffer.append(" ")
    if bytesOut == 0 { buffer.append("-") } else { Decimal.append(bytesOut, width: 1, to: &buffer) }
    buffer.append(" \"")
    CombinedText.append(request.extracting(Self.referer(request, hidden)), to: &buffer)
    buffer.append("\" \"")
    CombinedText.append(request.extracting(request.part(.userAgent)), to: &buffer)
    buffer.append("\"\n")
  }

  private static func append(_ line: inout LogFormatter, _ key: StaticString, _ value: Span<UInt8>) {
    if !value.isEmpty { line.string(key, value) }
  }
}

/// The parts of the request that a line is written from, in their order, with a NUL between them.
private enum RequestPart: Int {
  /// Method, a space, and the target.
  case head
  case host, userAgent, referer, trace
}

extension Span<UInt8> {
  /// The range of a part; empty if it is missing.
  fileprivate func part(_ part: RequestPart) -> Range<Int> {
    var start = 0
    for _ in 0..<part.rawValue { start = Swift.min(end(from: start) + 1, count) }
    return start..<end(from: start)
  }

  private func end(from start: Int) -> Int {
    for index in start..<count where self[index] == 0 { return index }
    return count
  }

  /// The end of `path` if it is a prefix, otherwise the end of the span.
  fileprivate func end(ofPath path: [UInt8]) -> Int {
    !path.isEmpty && holds(path, at: 0) ? path.count : count
  }

  /// The end of the first `path` in it, otherwise the end of the span.
  fileprivate func end(behind path: [UInt8]) -> Int {
    guard !path.isEmpty, count >= path.count else { return count }
    for start in 0...count - path.count where holds(path, at: start) { return start + path.count }
    return count
  }

  private func holds(_ path: [UInt8], at start: Int) -> Bool {
    guard count - start >= path.count else { return false }
    for offset in path.indices where self[start + offset] != path[offset] { return false }
    return true
  }

  /// The index of the first `?` or `#`.
  fileprivate var queryStart: Int { firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } }

  /// The first index whose byte satisfies `isWanted`, or the end.
  fileprivate func firstIndex(where isWanted: (UInt8) -> Bool) -> Int {
    for index in indices where isWanted(self[index]) { return index }
    return count
  }
}

/// A value in the Combined Log Format: as Apache writes it, everything but visible ASCII is escaped (`\xHH`), as are
/// quotation marks and backslashes; `-` stands for nothing.
private enum CombinedText {
  static func append(_ text: Span<UInt8>, to buffer: inout LogBuffer) {
    if text.isEmpty { return buffer.append("-") }
    for index in text.indices {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        buffer.append(UInt8(ascii: "\\"))
        buffer.append(byte)
      case 0x20...0x7E: buffer.append(byte)
      default:
        buffer.append("\\x")
        buffer.append(Hex.digit(byte >> 4))
        buffer.append(Hex.digit(byte))
      }
    }
  }
}
