/// One request, told in one line.
///
/// What comes from the wire is bytes and is escaped when it is rendered. Of the target only the path is told: a query
/// can hold authorization codes and other secrets.
public struct AccessLogLine: Sendable, Equatable {
  /// When the request's head was complete.
  public var time: Timestamp
  /// The request's identifier, as the upstream got it in `X-Request-Id`.
  public var requestID: [UInt8]
  public var method: [UInt8]
  /// The request target. Whatever follows the first `?` or `#` is not rendered.
  public var path: [UInt8]
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
  public var user: String?
  /// The client's address, as believed after trusted proxies.
  public var peer: String
  /// Why the exchange did not end as it should, for example `upstream_timeout`; nil where it did.
  public var failure: String?

  public init(
    time: Timestamp, requestID: [UInt8], method: [UInt8], path: [UInt8], version: String = "HTTP/1.1", status: Int,
    bytesIn: UInt64, bytesOut: UInt64, durationNanoseconds: UInt64, upstreamNanoseconds: UInt64? = nil, route: String,
    user: String? = nil, peer: String, failure: String? = nil
  ) {
    self.time = time
    self.requestID = requestID
    self.method = method
    self.path = path
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

  /// Appends the line with its line feed. Nothing is allocated but the growth of `bytes`: a buffer kept by its event
  /// loop and emptied with `removeAll(keepingCapacity: true)` makes a line cost no allocation.
  public func append(to bytes: inout [UInt8], as format: LineFormat) {
    var buffer: [UInt8] = []
    swap(&buffer, &bytes)
    var line = LineWriter(consume buffer, format: format)
    line.time(time)
    line.word("kind", "access")
    line.string("request", requestID)
    line.string("method", method)
    line.string("path", path.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    line.string("version", version)
    line.integer("status", UInt64(clamping: status))
    line.integer("bytes_in", bytesIn)
    line.integer("bytes_out", bytesOut)
    line.seconds("duration", nanoseconds: durationNanoseconds)
    if let upstreamNanoseconds { line.seconds("upstream", nanoseconds: upstreamNanoseconds) }
    line.string("route", route)
    if let user { line.string("user", user) }
    line.string("peer", peer)
    if let failure { line.string("failure", failure) }
    bytes = line.end()
  }
}
