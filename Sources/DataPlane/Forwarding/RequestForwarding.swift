internal import HTTPWire
internal import NIOCore

/// Writes the head of a request for the upstream out of the head that came.
///
/// What goes on is copied in runs: the bytes from one field that is left out to the next. What the gateway adds stands
/// at the end.
struct RequestForwarding {
  /// What of the request cannot be seen in its head.
  struct Context {
    var identity: IdentityBlock?
    /// `X-Forwarded-For` up to its CR LF.
    var forwardedFor: [UInt8]
    var trusted: Bool
    var requestID: RequestIDSource.Identifier
    /// Whether `Upgrade` is passed on.
    var upgrades: Bool
  }

  /// Writes the whole head.
  static func write(
    _ head: borrowing RequestHead, _ bytes: RawSpan, rules: borrowing ForwardingRules, context: borrowing Context,
    to buffer: inout ByteBuffer
  ) {
    var run = requestLine(head, bytes, to: &buffer)
    let lines = head.fields.lines.span
    for index in lines.indices {
      let line = lines[index]
      if rules.passes(line, bytes, trusted: context.trusted) {
        if !head.nominatesFields || !isNominated(line, head, bytes) {
          if line.known != .host || !head.isAbsoluteForm { continue }
        }
      }
      if run < line.start { buffer.writeBytes(bytes.extracting(run..<Int(line.start))) }
      run = Int(line.end)
      if line.known == .cookie, !head.nominatesFields || !isNominated(line, head, bytes) {
        CookieForwarding.write(line, index, head, bytes, to: &buffer)
      }
    }
    let end = head.byteCount - 2
    if run < end { buffer.writeBytes(bytes.extracting(run..<end)) }
    if let lines = context.identity?.lines { buffer.writeBytes(lines.span.bytes) }
    addForwarding(head, bytes, rules: rules, context: context, to: &buffer)
    if head.framing == .chunked { buffer.writeStaticString("Transfer-Encoding: chunked\r\n") }
    if context.upgrades, let upgrade = head.fields.line(.upgrade) {
      buffer.writeStaticString("Connection: Upgrade\r\nUpgrade: ")
      buffer.writeBytes(bytes.extracting(upgrade.value))
      buffer.writeStaticString("\r\n")
    }
    buffer.writeStaticString("\r\n")
  }

  /// Writes the request line where it cannot be copied.
  /// - Returns: where the first run begins.
  @inline(__always)
  private static func requestLine(_ head: borrowing RequestHead, _ bytes: RawSpan, to buffer: inout ByteBuffer) -> Int {
    if head.isHTTP11, !head.isAbsoluteForm { return head.methodRange.lowerBound }
    buffer.writeBytes(bytes.extracting(head.methodRange))
    buffer.writeStaticString(" ")
    // An absolute form without a path means the root (RFC 9112 3.2.1).
    if head.isAsteriskForm { buffer.writeStaticString("*") } else if head.path.isEmpty { buffer.writeStaticString("/") }
    buffer.writeBytes(bytes.extracting(head.path))
    buffer.writeBytes(bytes.extracting(head.query))
    buffer.writeStaticString(" HTTP/1.1\r\n")
    if head.isAbsoluteForm || (!head.isHTTP11 && !head.fields.has(.host)) {
      buffer.writeStaticString("Host: ")
      buffer.writeBytes(bytes.extracting(head.authority))
      buffer.writeStaticString("\r\n")
    }
    return head.fieldsStart
  }

  @inline(__always)
  private static func addForwarding(
    _ head: borrowing RequestHead, _ bytes: RawSpan, rules: borrowing ForwardingRules, context: borrowing Context,
    to buffer: inout ByteBuffer
  ) {
    if context.trusted, head.fields.has(.xForwardedFor) {
      buffer.writeStaticString("X-Forwarded-For: ")
      for line in head.fields.lines where line.known == .xForwardedFor && !line.value.isEmpty {
        buffer.writeBytes(bytes.extracting(line.value))
        buffer.writeStaticString(", ")
      }
      // What is prepared begins with the field's name.
      buffer.writeBytes(context.forwardedFor.span.bytes.extracting(droppingFirst: "X-Forwarded-For: ".utf8.count))
    } else {
      buffer.writeBytes(context.forwardedFor.span.bytes)
    }
    buffer.writeStaticString("\r\n")
    if context.trusted, head.fields.has(.forwarded) {
      ForwardedField.extend(
        head, bytes, address: context.forwardedFor.span.bytes.extracting(droppingFirst: "X-Forwarded-For: ".utf8.count),
        scheme: rules.scheme, to: &buffer)
    }
    buffer.writeStaticString("X-Forwarded-Proto: ")
    buffer.writeString(rules.scheme)
    buffer.writeStaticString("\r\nX-Forwarded-Host: ")
    buffer.writeBytes(bytes.extracting(head.authority))
    buffer.writeStaticString("\r\nX-Request-Id: ")
    context.requestID.write(to: &buffer)
    buffer.writeStaticString("\r\n")
  }

  /// Whether `Connection` nominates the field (RFC 9110 7.6.1). What frames or routes the message cannot be nominated
  /// away: that would make two readers see two requests.
  private static func isNominated(_ line: FieldLine, _ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard line.known != .host, line.known != .contentLength else { return false }
    return NominatedFields.contains(line, head.fields, bytes)
  }
}

/// The fields that `Connection` names.
enum NominatedFields {
  /// Whether one of the `Connection` lines of `fields` names `line`.
  static func contains(_ line: FieldLine, _ fields: borrowing FieldTable, _ bytes: RawSpan) -> Bool {
    var found = false
    for connection in fields.lines where connection.known == .connection {
      bytes.forEachListElement(connection.value) { element in
        if !found, element.count == line.name.count {
          found = element.indices.allSatisfy { index in
            bytes.byte(at: index).lowercased
              == bytes.byte(at: line.name.lowerBound + index - element.lowerBound).lowercased
          }
        }
      }
    }
    return found
  }
}
