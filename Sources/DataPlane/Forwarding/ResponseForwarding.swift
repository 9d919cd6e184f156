internal import HTTPWire
internal import NIOCore

/// Writes the head of a response for the client out of the head that came from the upstream.
enum ResponseForwarding {
  /// Facts about the response that are not in its head, whichever version of HTTP the client speaks.
  struct Context {
    /// Field lines for this client alone; nil if there are none.
    var privateLines: [UInt8]?
    /// The `Date` line to add; nil if the response needs none.
    var date: [UInt8]?
    /// The rewriting of addresses; nil if the response has none.
    var addresses: AddressRewriting?
  }

  /// Facts about the HTTP/1.1 or HTTP/1.0 connection that the response is sent on.
  struct Hop {
    var connection: Connection
    /// Whether the body is sent in chunks.
    var isChunked = false
    /// Whether the client can ask for a switch of protocols: it speaks HTTP/1.1.
    var mayUpgrade = false
  }

  /// The `Connection` field of the response to the client.
  enum Connection {
    /// No field: HTTP/1.1, and the connection is kept.
    case implied
    /// `Connection: keep-alive`: HTTP/1.0, and the connection is kept.
    case keepAlive
    /// `Connection: close`.
    case close
    /// `Connection: Upgrade` with the upstream's `Upgrade`: the protocols are switched.
    case upgrade
  }

  /// Writes the head of a response for an HTTP/1.1 or HTTP/1.0 client.
  static func write(
    _ head: borrowing ResponseHead, _ bytes: RawSpan, rules: ForwardingRules, context: borrowing Context, on hop: Hop,
    to buffer: inout ByteBuffer
  ) {
    buffer.writeHead(expecting: head.byteCount + 256 + (context.privateLines?.count ?? 0)) { writer in
      write(head, bytes, rules: rules, context: context, on: hop, to: &writer)
    }
  }

  @inline(__always)
  private static func write(
    _ head: borrowing ResponseHead, _ bytes: RawSpan, rules: ForwardingRules, context: borrowing Context, on hop: Hop,
    to writer: inout HeaderWriter
  ) {
    writeFields(head, bytes, rules, context.addresses, to: &writer)
    if let privateLines = context.privateLines { PrivateResponseHeaders.write(privateLines, head, bytes, to: &writer) }
    if let date = context.date { writer.append(date.span.bytes) }
    if hop.isChunked { writer.append("Transfer-Encoding: chunked\r\n") }
    writeConnection(hop, head, bytes, to: &writer)
    writer.append("\r\n")
  }

  /// Writes the status line, and the fields that pass.
  @inline(__always)
  private static func writeFields(
    _ head: borrowing ResponseHead, _ bytes: RawSpan, _ rules: ForwardingRules, _ addresses: AddressRewriting?,
    to writer: inout HeaderWriter
  ) {
    var run = statusLine(head, bytes, to: &writer)
    let lines = head.fields.lines.span
    for index in lines.indices {
      let line = lines[index]
      let dropped = isDropped(line, head, bytes, rules)
      let isLength = line.known.isContentLength
      let nominated = head.nominatesFields && !isLength && NominatedFields.contains(line, head.fields, bytes)
      let misspelt = bytes.byte(at: line.name.upperBound) != 0x3A
      let padded = isLength && !ContentLength.isPlain(line, bytes)
      let rewritten = dropped || nominated ? nil : addresses?.response(line, bytes)
      if !dropped, !nominated, !misspelt, !padded, rewritten == nil { continue }
      if run < line.start { writer.append(bytes.extracting(run..<Int(line.start))) }
      run = Int(line.end)
      if padded, !dropped {
        ContentLength.write(line, bytes, to: &writer)
      } else if !dropped, !nominated {
        // White space before the colon is removed (RFC 9112, 5.1).
        writer.append(bytes.extracting(line.name))
        writer.append(": ")
        if let rewritten { writer.append(rewritten.span.bytes) } else { writer.append(bytes.extracting(line.value)) }
        writer.append("\r\n")
      }
    }
    let end = head.byteCount - 2
    if run < end { writer.append(bytes.extracting(run..<end)) }
  }

  /// Writes the fields by which the client knows what becomes of the connection.
  @inline(__always)
  private static func writeConnection(
    _ hop: Hop, _ head: borrowing ResponseHead, _ bytes: RawSpan, to writer: inout HeaderWriter
  ) {
    let offersUpgrade = hop.mayUpgrade && head.status == 426 && offersWebSocket(head, bytes)
    switch hop.connection {
    case .implied: if offersUpgrade { writer.append("Connection: Upgrade\r\n") }
    case .keepAlive: writer.append("Connection: keep-alive\r\n")
    case .close where offersUpgrade: writer.append("Connection: close, Upgrade\r\n")
    case .close: writer.append("Connection: close\r\n")
    case .upgrade:
      writer.append("Connection: Upgrade\r\n")
      if let upgrade = head.fields.line(.upgrade) {
        writer.append("Upgrade: ")
        writer.append(bytes.extracting(upgrade.value))
        writer.append("\r\n")
      }
    }
    if offersUpgrade { writer.append("Upgrade: websocket\r\n") }
  }

  /// Writes the head of a response for an HTTP/2 client: RFC 9113, 8.2.2 leaves out the same fields.
  static func write(
    _ head: borrowing ResponseHead, _ bytes: RawSpan, rules: ForwardingRules, context: borrowing Context,
    to fields: inout HTTP2Fields
  ) {
    // A switch of protocols is the beginning of a tunnel there, and wants no answer to its key (RFC 8441, 5).
    let switches = head.status == 101
    fields.begin(status: switches ? 200 : head.status)
    let addresses = context.addresses
    let lines = head.fields.lines.span
    for index in lines.indices {
      let line = lines[index]
      if isDropped(line, head, bytes, rules) { continue }
      if head.nominatesFields, !line.known.isContentLength, NominatedFields.contains(line, head.fields, bytes) {
        continue
      }
      if switches, bytes.equalsIgnoringCase("sec-websocket-accept", line.name) { continue }
      if line.known.isContentLength, !ContentLength.isPlain(line, bytes) {
        fields.append("content-length", bytes.extracting(ContentLength.digits(line, bytes)))
      } else if let rewritten = addresses?.response(line, bytes) {
        fields.append(line, bytes, value: rewritten.span.bytes)
      } else {
        fields.append(line, bytes)
      }
    }
    if let date = context.date { fields.append("date", date.span.bytes.extracting(DateLine.value)) }
    if let privateLines = context.privateLines { PrivateResponseHeaders.write(privateLines, head, bytes, to: &fields) }
  }

  /// Whether a server that answers 426 names WebSocket among the protocols that it requires. A gateway has to name them
  /// as the server does (RFC 9110, 3.7 and 15.5.22); it passes no other protocol on, and so offers none.
  private static func offersWebSocket(_ head: borrowing ResponseHead, _ bytes: RawSpan) -> Bool {
    head.fields.lines.contains { line in
      guard line.known == .upgrade else { return false }
      var found = false
      bytes.forEachListElement(line.value) { found = found || bytes.equalsIgnoringCase("websocket", $0) }
      return found
    }
  }

  /// Whether a field is of one connection only, or is not for this client.
  @inline(__always)
  private static func isDropped(
    _ line: FieldLine, _ head: borrowing ResponseHead, _ bytes: RawSpan, _ rules: ForwardingRules
  ) -> Bool {
    switch line.known {
    case .other: false
    case .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade, .transferEncoding, .proxyAuthenticate,
      .proxyAuthorization, .http2Settings:
      true
    // RFC 9110, 8.6: neither an interim response nor 204 has a length.
    case .contentLength: head.status < 200 || head.status == 204
    case .setCookie: rules.gatewayCookies.isSet(by: line.value, bytes)
    default: false
    }
  }

  /// Writes the status line where it cannot be copied.
  /// - Returns: where the first run begins.
  @inline(__always)
  private static func statusLine(
    _ head: borrowing ResponseHead, _ bytes: RawSpan, to writer: inout HeaderWriter
  ) -> Int {
    // A line without the space after the status is rewritten with it (RFC 9112, 4).
    if head.isHTTP11, head.reason.lowerBound == 13 { return 0 }
    writer.append("HTTP/1.1 ")
    writer.append(bytes.extracting(9..<12))
    writer.append(" ")
    writer.append(bytes.extracting(head.reason))
    writer.append("\r\n")
    return head.fieldsStart
  }
}
