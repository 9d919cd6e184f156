internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// Writes the head of a request for the upstream out of the head that came.
///
/// Forwarded fields are copied in runs: the bytes from one removed field to the next. Fields of the gateway are
/// appended.
struct RequestForwarding {
  /// Facts about the request that are not in its head.
  struct Context {
    var identity: SerializedIdentityHeaders?
    /// The peer's address, as text.
    var address: String
    var trusted: Bool
    var requestID: RequestIDSource.Identifier
    /// Whether `Upgrade` is passed on.
    var upgrades: Bool
    /// Whether `Authorization` was for the gateway.
    var dropsAuthorization = false
    /// Whether method-override headers are left out.
    var dropsMethodOverride = false
    /// Whether the connection to the upstream ends after the request.
    var closes = false
    /// The rewriting for this upstream; nil if the request needs none.
    var rewriting: UpstreamRewriting?
  }

  /// Writes the whole head.
  static func write(
    _ head: borrowing RequestHead, _ bytes: RawSpan, rules: ForwardingRules, context: borrowing Context,
    to buffer: inout ByteBuffer
  ) {
    buffer.writeHead(expecting: head.byteCount + 1_024) { writer in
      write(head, bytes, rules: rules, context: context, to: &writer)
    }
  }

  @inline(__always)
  private static func write(
    _ head: borrowing RequestHead, _ bytes: RawSpan, rules: ForwardingRules, context: borrowing Context,
    to writer: inout HeaderWriter
  ) {
    writeFields(head, bytes, rules: rules, context: context, to: &writer)
    if let lines = context.identity?.lines { writer.append(lines.span.bytes) }
    addForwarding(head, bytes, rules: rules, context: context, to: &writer)
    if context.closes, !context.upgrades { writer.append(closeLine) }
    if head.framing.isChunked { writer.append(chunkedLine) }
    if context.upgrades, let upgrade = head.fields.line(.upgrade) {
      writer.append("Connection: Upgrade\r\nUpgrade: ")
      writer.append(bytes.extracting(upgrade.value))
      writer.append("\r\n")
    }
    writer.append("\r\n")
  }

  /// Writes the request line, and the fields that pass.
  @inline(__always)
  private static func writeFields(
    _ head: borrowing RequestHead, _ bytes: RawSpan, rules: ForwardingRules, context: borrowing Context,
    to writer: inout HeaderWriter
  ) {
    var run = requestLine(head, bytes, context.rewriting, to: &writer)
    let lines = head.fields.lines.span
    // Read once: each look into the object would retain what it holds.
    let removed = context.rewriting?.removed
    let replacesHost = context.rewriting?.host != nil
    let hasDestination = context.rewriting != nil && head.fields.has(.destination)
    for index in lines.indices {
      let line = lines[index]
      var isDropped =
        context.dropsAuthorization && line.known == .authorization
        || context.dropsMethodOverride && line.known == .other && rules.methodOverrides.contains(bytes, line.name)
      var destination: [UInt8]?
      if let removed {
        isDropped = isDropped || replacesHost && line.known == .host || removed.contains(bytes, line.name)
        if hasDestination, line.known == .destination, let rewriting = context.rewriting,
          case .rewritten(let address) = address(rewriting, head, bytes, rules, line)
        {
          destination = address
        }
      }
      if !isDropped, destination == nil, rules.passes(line, bytes, trusted: context.trusted) {
        if !head.nominatesFields || !isNominated(line, head, bytes) {
          if !head.isAbsoluteForm || line.known != .host { continue }
        }
      }
      if run < line.start { writer.append(bytes.extracting(run..<Int(line.start))) }
      run = Int(line.end)
      if isDropped { continue }
      switch line.known {
      case .cookie where !head.nominatesFields || !isNominated(line, head, bytes):
        CookieForwarding.write(line, index, head, bytes, to: &writer)
      case .contentLength: ContentLength.write(line, bytes, to: &writer)
      default:
        guard let destination, !head.nominatesFields || !isNominated(line, head, bytes) else { continue }
        writer.append("Destination: ")
        writer.append(destination.span.bytes)
        writer.append("\r\n")
      }
    }
    let end = head.byteCount - 2
    if run < end { writer.append(bytes.extracting(run..<end)) }
  }

  private static let closeLine: StaticString = "Connection: close\r\n"
  private static let chunkedLine: StaticString = "Transfer-Encoding: chunked\r\n"

  /// Gives a head that was written for a chunked body the length of the whole body instead, which has come meanwhile.
  /// - Parameters:
  ///   - length: nil writes no length: there is no body.
  ///   - wasClosing: whether the head was written with `Connection: close`.
  ///   - closes: whether it is to have that field.
  static func replaceChunkedFraming(of head: inout ByteBuffer, by length: Int?, wasClosing: Bool, closes: Bool) {
    let tail = chunkedLine.utf8CodeUnitCount + 2 + (wasClosing ? closeLine.utf8CodeUnitCount : 0)
    guard head.readableBytes > tail else { return }
    head.moveWriterIndex(to: head.writerIndex - tail)
    if closes { head.writeStaticString(closeLine) }
    if let length {
      head.writeStaticString("Content-Length: ")
      head.writeString(String(length))
      head.writeStaticString("\r\n")
    }
    head.writeStaticString("\r\n")
  }

  /// Whether a `Destination` names a resource of this host that is not the upstream's: the upstream would take it for
  /// one of its own, and that path was not authorized.
  static func leavesPrefix(
    _ rewriting: UpstreamRewriting, _ head: borrowing RequestHead, _ bytes: RawSpan, _ rules: ForwardingRules
  ) -> Bool {
    guard rewriting.prefix != nil, head.fields.has(.destination) else { return false }
    return head.fields.lines.contains { line in
      line.known == .destination && address(rewriting, head, bytes, rules, line) == .outsidePrefix
    }
  }

  /// `Destination` as the upstream gets it.
  private static func address(
    _ rewriting: UpstreamRewriting, _ head: borrowing RequestHead, _ bytes: RawSpan, _ rules: ForwardingRules,
    _ line: FieldLine
  ) -> AddressRewriting.Destination {
    AddressRewriting(
      rewriting, scheme: Array(rules.scheme.utf8), authority: bytes.array(head.authority),
      ownPathPrefix: rules.ownPathPrefix
    ).destination(bytes.array(line.value))
  }

  /// Writes the request line where it cannot be copied.
  /// - Returns: where the first run begins.
  @inline(__always)
  private static func requestLine(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ rewriting: UpstreamRewriting?, to writer: inout HeaderWriter
  ) -> Int {
    let keepsTarget = rewriting == nil || rewriting?.prefix == nil && rewriting?.host == nil
    if head.isHTTP11, !head.isAbsoluteForm, keepsTarget { return head.methodRange.lowerBound }
    writer.append(bytes.extracting(head.methodRange))
    writer.append(" ")
    // An absolute form without a path means the root (RFC 9112, 3.2.1).
    if head.isAsteriskForm { writer.append("*") } else if head.path.isEmpty { writer.append("/") }
    // A request outside of the prefix is refused before.
    if let rewriting, !head.path.isEmpty, let stripped = rewriting.strippedPath(bytes, head.path) {
      if stripped.addsSlash { writer.append("/") }
      writer.append(bytes.extracting(stripped.start..<head.path.upperBound))
    } else {
      writer.append(bytes.extracting(head.path))
    }
    writer.append(bytes.extracting(head.query))
    writer.append(" HTTP/1.1\r\n")
    if let host = rewriting?.host {
      writer.append("Host: ")
      writer.append(host.span.bytes)
      writer.append("\r\n")
    } else if head.isAbsoluteForm || (!head.isHTTP11 && !head.fields.has(.host)) {
      writer.append("Host: ")
      writer.append(bytes.extracting(head.authority))
      writer.append("\r\n")
    }
    return head.fieldsStart
  }

  @inline(__always)
  private static func addForwarding(
    _ head: borrowing RequestHead, _ bytes: RawSpan, rules: ForwardingRules, context: borrowing Context,
    to writer: inout HeaderWriter
  ) {
    writer.append("X-Forwarded-For: ")
    if context.trusted, head.fields.has(.xForwardedFor) {
      // An empty line after others stays an empty element: the application, or another gateway, must not take what
      // precedes it for the peer of the proxy that wrote it.
      var isFirst = true
      for line in head.fields.lines where line.known == .xForwardedFor && !(isFirst && line.value.isEmpty) {
        writer.append(bytes.extracting(line.value))
        writer.append(", ")
        isFirst = false
      }
    }
    writer.append(context.address.utf8Span.span.bytes)
    writer.append("\r\n")
    if context.trusted, head.fields.has(.forwarded) {
      ForwardedField.extend(
        head, bytes, address: context.address.utf8Span.span.bytes, scheme: rules.scheme, to: &writer)
    }
    let schemeAndHost = rules.schemeAndHost
    writer.append(schemeAndHost.span.bytes)
    writer.append(bytes.extracting(head.authority))
    if let prefix = context.rewriting?.prefix {
      writer.append("\r\nX-Forwarded-Prefix: ")
      writer.append(prefix.span.bytes)
    }
    writer.append("\r\nX-Request-Id: ")
    context.requestID.write(to: &writer)
    writer.append("\r\n")
  }

  /// Whether `Connection` nominates the field (RFC 9110, 7.6.1). Fields that frame or route the message cannot be
  /// nominated: without them two readers would see two requests.
  private static func isNominated(_ line: FieldLine, _ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard line.known != .host, line.known != .contentLength else { return false }
    return NominatedFields.contains(line, head.fields, bytes)
  }
}

/// The fields that `Connection` names.
enum NominatedFields {
  /// Whether `Connection` names `line`.
  static func contains(_ line: FieldLine, _ fields: borrowing FieldTable, _ bytes: RawSpan) -> Bool {
    let name = line.name
    let nominations = fields.nominations.span
    for index in nominations.indices where nominations[index].count == name.count {
      if isSame(nominations[index].lowerBound, name, bytes) { return true }
    }
    return false
  }

  private static func isSame(_ start: Int, _ name: Range<Int>, _ bytes: RawSpan) -> Bool {
    for offset in 0..<name.count
    where bytes.byte(at: start + offset).asciiLowercased != bytes.byte(at: name.lowerBound + offset).asciiLowercased {
      return false
    }
    return true
  }
}
