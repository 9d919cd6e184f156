internal import HTTPWire

/// Adds field lines that are for one client alone to a response of the upstream, where no shared cache can hand them to
/// another.
///
/// RFC 9111 3 lets a shared cache keep a response with `Set-Cookie` like any other. One that says `private` or `no-store`
/// it may not keep; to one without `Cache-Control`, `private` is added; any other goes on as it is, without the lines.
enum PersonalLines {
  static func write(
    _ lines: [UInt8], _ head: borrowing ResponseHead, _ bytes: RawSpan, to space: inout HeadSpace
  ) {
    var isControlled = false
    var isPrivate = false
    for line in head.fields.lines where bytes.equalsIgnoringCase("cache-control", line.name) {
      isControlled = true
      bytes.forEachListElement(line.value) { element in
        if bytes.equalsIgnoringCase("private", element) || bytes.equalsIgnoringCase("no-store", element) {
          isPrivate = true
        }
      }
    }
    if isControlled, !isPrivate { return }
    if !isControlled { space.append("Cache-Control: private\r\n") }
    space.append(lines.span.bytes)
  }
}
