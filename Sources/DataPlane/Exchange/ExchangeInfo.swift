internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// The facts of an exchange, and its counts so far. At the end they become its ``ExchangeRecord``.
struct ExchangeInfo {
  /// When the head of the request was whole.
  var began = NIODeadline.distantPast
  var requestID = RequestIDSource.Identifier(high: 0, low: 0)
  /// Method and path, if the observer wants them.
  var requestLine: ByteBuffer?
  /// Whether the observer wants the address that the request was sent to.
  var wantsUpstreamAddress = false
  var version = HTTPVersion.http11
  var method = RequestHead.Method.other
  /// Whether it is a gRPC call.
  var isGRPC = false
  /// The client behind a trusted proxy.
  var client: ClientPeer?
  var label = RequestLabel.undecided
  var session: ConnectionKey?
  /// The credential of the request, in the gate's own terms.
  var credential: UInt64 = 0
  /// A pseudonym of the user, for the observer.
  var user: UInt64?
  var receivedBytes = 0
  var sentBytes = 0
  /// The number of times that the gate has suspended the request.
  var suspensions: UInt8 = 0
  var upstreamBegan = NIODeadline.distantPast
  var upstreamDuration = TimeAmount.zero
  /// The reason for which its request was refused after it had been forwarded.
  var ending: ExchangeEnding?
  /// The reason why it does not end as it should.
  var failure: ExchangeFailure?

  /// The largest number of suspensions: a session, an account, a revalidation and a signature need one each, and some
  /// of them again if something changes meanwhile.
  static let mostSuspensions: UInt8 = 16

  /// Notes what the head says of the whole exchange.
  /// - Parameter wanted: the fields that the observer wants in addition to the request line; nil if it does not want
  ///   the line either.
  mutating func note(_ head: borrowing RequestHead, _ bytes: RawSpan, wanted: WantedFields?) {
    if version != .http2 { version = head.isHTTP11 ? .http11 : .http10 }
    method = head.method
    isGRPC = method.isPost && GRPCStatus.isCall(head.fields, bytes)
    if let wanted {
      keepRequestLine(head, bytes, wanted)
      wantsUpstreamAddress = wanted.contains(.upstreamAddress)
    }
  }

  private mutating func keepRequestLine(_ head: borrowing RequestHead, _ bytes: RawSpan, _ wanted: WantedFields) {
    var line = requestLine ?? ByteBuffer()
    requestLine = nil
    // A head that waited for the gate is read a second time.
    line.clear()
    line.writeHead(expecting: head.methodRange.count + 1 + head.path.count) { writer in
      writer.append(bytes.extracting(head.methodRange))
      writer.append(" ")
      writer.append(bytes.extracting(head.path))
      if !wanted.isDisjoint(with: [.host, .userAgent, .referer, .trace]) {
        Self.write(head, bytes, wanted, to: &writer)
      }
    }
    requestLine = line
  }

  /// Writes the fields that the observer wants, each after a NUL.
  private static func write(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ wanted: WantedFields, to writer: inout HeaderWriter
  ) {
    writer.append("\0")
    if wanted.contains(.host) { writer.append(bytes.extracting(head.authority)) }
    writer.append("\0")
    if wanted.contains(.userAgent), let field = head.fields.line(.userAgent) {
      writer.append(bytes.extracting(field.value))
    }
    writer.append("\0")
    if wanted.contains(.referer) {
      for field in head.fields.lines where bytes.equalsIgnoringCase("referer", field.name) {
        writer.append(bytes.extracting(field.value))
        break
      }
    }
    writer.append("\0")
    if wanted.contains(.trace), let trace = trace(head, bytes) { writer.append(bytes.extracting(trace)) }
  }

  /// The identifier in `traceparent` (W3C Trace Context, 3.2): after `VV-`, and before another hyphen, 32 lower-case
  /// hexadecimal digits that are not all zero; nil where it is malformed or repeated.
  private static func trace(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Range<Int>? {
    guard let field = head.fields.line(.traceparent), !head.fields.isRepeated(.traceparent),
      field.value.count >= 55, bytes.byte(at: field.value.lowerBound + 2) == UInt8(ascii: "-"),
      bytes.byte(at: field.value.lowerBound + 35) == UInt8(ascii: "-")
    else { return nil }
    let trace = field.value.lowerBound + 3..<field.value.lowerBound + 35
    let isHex = trace.allSatisfy { index in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes.byte(at: index))
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(bytes.byte(at: index))
    }
    return isHex && !trace.allSatisfy { bytes.byte(at: $0) == UInt8(ascii: "0") } ? trace : nil
  }

  /// Takes the client's address and the request's identifier from a trusted proxy.
  mutating func believeProxy(
    _ peer: ClientPeer, _ head: borrowing RequestHead, _ bytes: RawSpan, _ trustedProxies: [NetworkPrefix]
  ) {
    if head.fields.has(.xForwardedFor) {
      var named = peer
      if let address = ForwardedClient.address(head.fields, bytes, trustedProxies: trustedProxies) {
        named.address = address.description
      } else {
        named.isAddressKnown = false
      }
      client = named
    }
    if let line = head.fields.line(.xRequestID), !head.fields.isRepeated(.xRequestID) {
      requestID.given = RequestIDSource.Identifier.wellFormed(bytes, line.value)
    }
  }
}
