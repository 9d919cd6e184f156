internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// The facts that an error response depends on: the host that a client asked, its content negotiation, as the bytes of
/// its fields, and the progress of its body; nil where it did not say, or did not get that far.
package struct ClientPreferences: Sendable, Equatable {
  /// Host and port.
  package var authority: [UInt8]?
  /// `Accept`.
  package var accept: [UInt8]?
  /// `Accept-Language`.
  package var acceptLanguage: [UInt8]?
  /// The progress of the body of a forwarded request; nil without a body.
  package var body: BodyProgress?

  /// Progress of a body that was being forwarded.
  package enum BodyProgress: Sendable {
    /// The upstream may have a part of it, never all.
    case partial
    /// All of it has come, and the upstream may have acted on it.
    case whole
  }

  /// The raw bytes of each field; several lines of one field are joined by the caller.
  package init(
    authority: [UInt8]? = nil, accept: [UInt8]? = nil, acceptLanguage: [UInt8]? = nil, body: BodyProgress? = nil
  ) {
    self.authority = authority
    self.accept = accept
    self.acceptLanguage = acceptLanguage
    self.body = body
  }

  /// Nothing is known.
  package static let unknown = ClientPreferences()
}

extension ClientPreferences {
  /// Reads them from a head that was parsed.
  init(_ head: borrowing RequestHead, _ bytes: RawSpan) {
    authority = bytes.array(head.authority)
    accept = head.fields.line(.accept).map { bytes.array($0.value) }
    acceptLanguage = head.fields.line(.acceptLanguage).map { bytes.array($0.value) }
  }

  /// Looks for them in a head that is malformed, or not whole. The result chooses between the pages of hosts, between a
  /// page and JSON, and between languages, and nothing else, so that the search need not be strict.
  init(unparsed bytes: RawSpan) {
    authority = Self.value(of: "host:", in: bytes).map { Array($0.trimmingOptionalWhitespace) }
    accept = Self.value(of: "accept:", in: bytes)
    acceptLanguage = Self.value(of: "accept-language:", in: bytes)
  }

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
