internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// What the client of a refused request accepts, as far as that can be known.
extension ClientConnection {
  /// The value of `Accept`, however far the request got.
  var acceptOfRequest: [UInt8]? {
    let loop = server.loop
    if let sent = exchange.sentHead {
      guard server.parser.parse(sent.readableBytesSpan, into: &loop.requestHead) == .complete,
        let line = loop.requestHead.fields.line(.accept)
      else { return nil }
      return sent.readableBytesSpan.array(line.value)
    }
    if let control = exchange.control { return control.request.head.headerFields[.accept].map { Array($0.utf8) } }
    return pending.flatMap { Self.accept(in: $0.readableBytesSpan) }
  }

  /// Looks for an `Accept` line in a head that is malformed, or not whole. What it finds chooses between a page and JSON
  /// and nothing else, so that it need not be strict.
  private static func accept(in bytes: RawSpan) -> [UInt8]? {
    let name: StaticString = "accept:"
    var at = 0
    while at < bytes.byteCount, at < 65_536 {
      if bytes.byteCount - at > 7, bytes.equalsIgnoringCase(name, at..<at + 7) {
        var end = at + 7
        while end < bytes.byteCount, bytes.byte(at: end) >= 0x20 { end += 1 }
        return bytes.array(at + 7..<end)
      }
      while at < bytes.byteCount, bytes.byte(at: at) != 0x0A { at += 1 }
      at += 1
      // An empty line ends the head.
      if at < bytes.byteCount, bytes.byte(at: at) == 0x0D { return nil }
    }
    return nil
  }
}
