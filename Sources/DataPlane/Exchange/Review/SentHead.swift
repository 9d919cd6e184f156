internal import HTTPWire
internal import NIOCore

/// Heads that the gateway has written to an upstream, read again.
enum SentHead {
  static let parser = RequestHeadParser(limits: LoopResources.sentHeads)

  /// Bytes of the largest head that is sent: within ``LoopResources/sentHeads``, with room for the length of a body
  /// that is collected.
  static let largest = 65_535 - 64

  /// The line, the authority, the `Destination` and the `Depth` of a request as its client sent them, as a head without
  /// anything else.
  /// - Parameters:
  ///   - rewriting: for the upstream that it was sent to.
  ///   - destination: see ``UpstreamRequest/destination``.
  static func reviewedHead(
    _ sent: ByteBuffer, _ rewriting: UpstreamRewriting?, addsSlash: Bool, destination: [UInt8]?,
    _ scratch: inout RequestHead
  ) -> ByteBuffer? {
    let bytes = sent.readableBytesSpan
    guard parser.parse(bytes, into: &scratch) == .complete else { return nil }
    var head = ByteBuffer()
    head.reserveCapacity(scratch.target.count + scratch.authority.count + (destination?.count ?? 0) + 64)
    head.writeBytes(bytes.extracting(scratch.methodRange))
    head.writeStaticString(" ")
    var target = scratch.target
    if let prefix = rewriting?.prefix, !scratch.isAsteriskForm {
      head.writeBytes(prefix)
      if addsSlash { target = target.dropFirst() }
    }
    head.writeBytes(bytes.extracting(target))
    head.writeStaticString(" HTTP/1.1\r\nHost: ")
    head.writeBytes(bytes.extracting(scratch.fields.line(.xForwardedHost)?.value ?? scratch.authority))
    if let destination {
      head.writeStaticString("\r\nDestination: ")
      head.writeBytes(destination)
    }
    // Not if there are several, which an application could read in another way.
    if let depth = scratch.fields.line(.depth), !scratch.fields.isRepeated(.depth) {
      head.writeStaticString("\r\nDepth: ")
      head.writeBytes(bytes.extracting(depth.value))
    }
    head.writeStaticString("\r\n\r\n")
    return head
  }

  /// The authority of a request as its client sent it: the gateway alone writes `X-Forwarded-Host`.
  static func clientAuthority(_ sent: ByteBuffer, _ scratch: inout RequestHead) -> [UInt8]? {
    let bytes = sent.readableBytesSpan
    guard parser.parse(bytes, into: &scratch) == .complete else { return nil }
    return scratch.fields.line(.xForwardedHost).map { bytes.array($0.value) }
  }

  /// The preferences of the client, from the request head that was sent upstream.
  static func preferences(_ sent: ByteBuffer, _ scratch: inout RequestHead) -> ClientPreferences {
    let bytes = sent.readableBytesSpan
    guard parser.parse(bytes, into: &scratch) == .complete else { return .unknown }
    var preferences = ClientPreferences(scratch, bytes)
    // `Host` may be the upstream's own.
    if let line = scratch.fields.line(.xForwardedHost) { preferences.authority = bytes.array(line.value) }
    return preferences
  }

  /// Whether an upstream has answered the WebSocket key of a request as only a reader of that key can (RFC 6455, 4.1).
  static func isKeyAccepted(
    of sent: ByteBuffer, by head: borrowing ResponseHead, _ bytes: RawSpan, _ scratch: inout RequestHead
  ) -> Bool {
    let sentBytes = sent.readableBytesSpan
    guard parser.parse(sentBytes, into: &scratch) == .complete,
      let key = scratch.fields.lines.first(where: { sentBytes.equalsIgnoringCase("sec-websocket-key", $0.name) })
    else { return false }
    let answers = head.fields.lines.filter { bytes.equalsIgnoringCase("sec-websocket-accept", $0.name) }
    guard answers.count == 1, let answer = answers.first else { return false }
    return bytes.array(answer.value) == WebSocketAccept.answer(to: sentBytes.array(key.value))
  }
}
