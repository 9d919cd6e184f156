/// One request, told in one line.
///
/// What comes from the wire is bytes, handed over when the line is written, and escaped there. Of the target only the path
/// is told: a query can hold authorization codes and other secrets.
public struct AccessLogLine: Sendable, Equatable {
  /// When the request's head was complete.
  public var time: Timestamp
  /// The protocol, `HTTP/1.1` for example.
  public var version: String
  /// The status that was sent; 499 where the client went before any.
  public var status: Int
  /// Bytes of the request's body that were read.
  public var bytesIn: UInt64
  /// Bytes of the response's body that were written.
  public var bytesOut: UInt64
  /// Nanoseconds from the whole head of the request to the last byte of the response.
  public var durationNanoseconds: UInt64
  /// Nanoseconds from the request being sent upstream to the head of the answer; nil where the upstream was not
  /// asked or did not answer.
  public var upstreamNanoseconds: UInt64?
  /// The route's class or path of the configuration.
  public var route: String
  /// A keyed hash that stands for the user; nil without a session.
  public var user: UInt64?
  /// The client's address, as believed after trusted proxies.
  public var peer: String
  /// Why the exchange did not end as it should, for example `upstream_timeout`; nil where it did.
  public var failure: String?

  public init(
    time: Timestamp, version: String = "HTTP/1.1", status: Int, bytesIn: UInt64, bytesOut: UInt64,
    durationNanoseconds: UInt64, upstreamNanoseconds: UInt64? = nil, route: String, user: UInt64? = nil,
    peer: String, failure: String? = nil
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
  }

  /// Appends the line with its line feed. Nothing is allocated but the growth of `buffer`.
  /// - Parameters:
  ///   - request: Method, a space, and the target; whatever follows the first `?` or `#` is not rendered.
  ///   - requestID: The request's identifier, as the upstream got it in `X-Request-Id`.
  public func append(
    request: Span<UInt8>, requestID: Span<UInt8>, to buffer: inout LineBuffer, as format: LineFormat
  ) {
    let methodEnd = request.firstIndex { $0 == UInt8(ascii: " ") }
    let pathStart = min(methodEnd + 1, request.count)
    let target = request.extracting(pathStart..<request.count)
    let path = target.extracting(..<target.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
    var line = LineWriter(consume buffer, format: format)
    line.time(time)
    line.word("kind", "access")
    line.string("request", requestID)
    line.string("method", request.extracting(..<methodEnd))
    line.string("path", path)
    line.string("version", version)
    line.integer("status", UInt64(clamping: status))
    line.integer("bytes_in", bytesIn)
    line.integer("bytes_out", bytesOut)
    line.seconds("duration", nanoseconds: durationNanoseconds)
    if let upstreamNanoseconds { line.seconds("upstream", nanoseconds: upstreamNanoseconds) }
    line.string("route", route)
    if let user { line.pseudonym("user", user) }
    line.string("peer", peer)
    if let failure { line.string("failure", failure) }
    buffer = line.end()
  }
}

extension Span<UInt8> {
  /// The first place whose byte `isWanted` says yes to, or the end.
  fileprivate func firstIndex(where isWanted: (UInt8) -> Bool) -> Int {
    for index in indices where isWanted(self[index]) { return index }
    return count
  }
}
