internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// What the client of a refused request would like to read, as far as that can be known.
extension Exchange {
  /// `Accept` and `Accept-Language`, however far the request got.
  /// - Parameter pending: a head that was not taken.
  func preferences(on server: ServerContext, pending: ByteBuffer?) -> ClientPreferences {
    let loop = server.loop
    if let sent = sentHead {
      guard server.parser.parse(sent.readableBytesSpan, into: &loop.requestHead) == .complete else { return .unknown }
      let bytes = sent.readableBytesSpan
      return ClientPreferences(
        accept: loop.requestHead.fields.line(.accept).map { bytes.array($0.value) },
        acceptLanguage: loop.requestHead.fields.line(.acceptLanguage).map { bytes.array($0.value) })
    }
    if let fields = control?.request.head.headerFields {
      return ClientPreferences(
        accept: fields[.accept].map { Array($0.utf8) }, acceptLanguage: fields[.acceptLanguage].map { Array($0.utf8) })
    }
    guard let pending else { return .unknown }
    let bytes = pending.readableBytesSpan
    return ClientPreferences(
      accept: Self.value(of: "accept:", in: bytes), acceptLanguage: Self.value(of: "accept-language:", in: bytes))
  }

  /// Looks for a line in a head that is malformed, or not whole. What it finds chooses between a page and JSON, and
  /// between languages, and nothing else, so that it need not be strict.
  private static func value(of name: StaticString, in bytes: RawSpan) -> [UInt8]? {
    let length = name.utf8CodeUnitCount
    var at = 0
    while at < bytes.byteCount, at < 65_536 {
      if bytes.byteCount - at > length, bytes.equalsIgnoringCase(name, at..<at + length) {
        var end = at + length
        while end < bytes.byteCount, bytes.byte(at: end) >= 0x20 { end += 1 }
        return bytes.array(at + length..<end)
      }
      while at < bytes.byteCount, bytes.byte(at: at) != 0x0A { at += 1 }
      at += 1
      // An empty line ends the head.
      if at < bytes.byteCount, bytes.byte(at: at) == 0x0D { return nil }
    }
    return nil
  }
}
