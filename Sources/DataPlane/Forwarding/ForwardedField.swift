internal import HTTPWire

/// `Forwarded` (RFC 7239), for applications behind proxies that use it.
///
/// A trusted proxy's is passed on with one element more, for that proxy itself. A stranger's is dropped, and none is
/// begun: `X-Forwarded-For` is what the gateway says of its own accord, and one of the two is enough.
enum ForwardedField {
  /// - Parameter address: the peer's, as text.
  static func extend(
    _ head: borrowing RequestHead, _ bytes: RawSpan, address: RawSpan, scheme: String, to writer: inout HeaderWriter
  ) {
    writer.append("Forwarded: ")
    // Within an open quotation ours would be a part of what others say: then only ours is said.
    var isBalanced = true
    for line in head.fields.lines where line.known == .forwarded && !isQuoted(bytes, line.value) { isBalanced = false }
    for line in head.fields.lines where isBalanced && line.known == .forwarded && !line.value.isEmpty {
      writer.append(bytes.extracting(line.value))
      writer.append(", ")
    }
    writeNode(address, to: &writer)
    // HTTP/1.0 may leave it out.
    if !head.authority.isEmpty {
      writer.append(";host=\"")
      // Letters, digits, dots, hyphens, brackets and colons: nothing that ends a quotation.
      writer.append(bytes.extracting(head.authority))
      writer.append("\"")
    }
    writer.append(";proto=")
    writer.append(Array(scheme.utf8).span.bytes)
    writer.append("\r\n")
  }

  /// An IPv6 address is in brackets and quotation marks; a Unix socket has no address (RFC 7239, 6).
  private static func writeNode(_ address: RawSpan, to writer: inout HeaderWriter) {
    let whole = 0..<address.byteCount
    guard !address.equals("unix", whole) else {
      writer.append("for=unknown")
      return
    }
    let isIPv6 = whole.contains { address.byte(at: $0) == 0x3A }
    writer.append(isIPv6 ? "for=\"[" : "for=")
    writer.append(address)
    if isIPv6 { writer.append("]\"") }
  }

  /// Whether every quotation in the value ends.
  private static func isQuoted(_ bytes: RawSpan, _ value: Range<Int>) -> Bool {
    var within = false
    var at = value.lowerBound
    while at < value.upperBound {
      if bytes.byte(at: at) == 0x22 { within.toggle() }
      // A backslash takes the next byte with it, in a quotation only.
      at += within && bytes.byte(at: at) == 0x5C ? 2 : 1
    }
    return !within
  }
}
