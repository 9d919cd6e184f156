internal import HTTPWire

/// Adds field lines that are for one client alone to a response of the upstream, where no shared cache can hand them to
/// another.
///
/// RFC 9111, 3 lets a shared cache keep a response with `Set-Cookie` like any other. It may not keep one with `private`
/// or `no-store`; `private` is added to one without `Cache-Control`; any other is forwarded as it is, without the
/// private header lines. A field that addresses some caches only takes the place of `Cache-Control` there: it must say
/// the same (``TargetedCacheControl``).
enum PrivateResponseHeaders {
  static func write(
    _ lines: [UInt8], _ head: borrowing ResponseHead, _ bytes: RawSpan, to writer: inout HeaderWriter
  ) {
    switch protection(head, bytes) {
    case .shared: return
    case .unsaid: writer.append("Cache-Control: private\r\n")
    case .personal: break
    }
    writer.append(lines.span.bytes)
  }

  /// The same for an HTTP/2 client.
  static func write(
    _ lines: [UInt8], _ head: borrowing ResponseHead, _ bytes: RawSpan, to fields: inout HTTP2Fields
  ) {
    switch protection(head, bytes) {
    case .shared: return
    case .unsaid: fields.append("cache-control", "private")
    case .personal: break
    }
    fields.append(lines: lines)
  }

  /// The permission of a response to shared caches.
  private enum Protection {
    /// A shared cache may keep the response.
    case shared
    /// None may.
    case personal
    /// The response does not say.
    case unsaid
  }

  private static func protection(_ head: borrowing ResponseHead, _ bytes: RawSpan) -> Protection {
    var protection = Protection.unsaid
    for line in head.fields.lines {
      if bytes.equalsIgnoringCase("cache-control", line.name) {
        if isPersonal(line, bytes) { protection = .personal } else if protection == .unsaid { protection = .shared }
      } else if TargetedCacheControl.isTargeted(bytes, line.name), !isPersonal(line, bytes) {
        return .shared
      }
    }
    return protection
  }

  /// Whether the directives of a line forbid shared caches to keep the response.
  static func isPersonal(_ line: FieldLine, _ bytes: RawSpan) -> Bool {
    var isPersonal = false
    bytes.forEachListElement(line.value) { element in
      if bytes.equalsIgnoringCase("private", element) || bytes.equalsIgnoringCase("no-store", element) {
        isPersonal = true
      }
    }
    return isPersonal
  }
}
