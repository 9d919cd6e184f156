internal import WebFormats

/// Interprets request line and fields of a complete head together (RFC 9112, 3.2, 6.3, 9.3; RFC 9110, 7.6, 10.1).
enum RequestSemantics {
  /// Judges `head` and fills in what follows from its fields.
  @inline(__always)
  static func apply(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) {
    try method(bytes, &head)
    try target(bytes, &head)
    try host(bytes, &head)
    try framing(bytes, &head)
    try connection(bytes, &head)
    if let line = head.fields.line(.expect) {
      guard !head.fields.isRepeated(.expect), bytes.equalsIgnoringCase("100-continue", line.value) else {
        throw .expectation
      }
      head.expectsContinue = head.isHTTP11 && head.framing != .none
    }
  }

  @inline(__always)
  private static func method(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) {
    let range = head.methodRange
    switch range.count {
    case 3:
      if bytes.equals("GET", range) { head.method = .get } else if bytes.equals("PUT", range) { head.method = .put }
    case 4:
      if bytes.equals("POST", range) { head.method = .post } else if bytes.equals("HEAD", range) { head.method = .head }
    case 5:
      if bytes.equals("PATCH", range) { head.method = .patch }
      if bytes.equals("TRACE", range) { throw .traceMethod }
    case 6: if bytes.equals("DELETE", range) { head.method = .delete }
    case 7:
      if bytes.equals("OPTIONS", range) { head.method = .options }
      if bytes.equals("CONNECT", range) { throw .connectMethod }
    case 33...: throw .method
    default: break
    }
    if head.method == .other, bytes.hasLowercase(range) { throw .methodCase }
  }

  /// Takes the target apart: origin-form, absolute-form, or `*` for OPTIONS (RFC 9112, 3.2).
  @inline(__always)
  private static func target(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) {
    let target = head.target
    var start = target.lowerBound
    if bytes.byte(at: start) != 0x2F {
      if target.count == 1, bytes.byte(at: start) == 0x2A, head.method == .options {
        head.isAsteriskForm = true
        head.path = start..<start
        head.query = start..<start
        return
      }
      start = try absoluteForm(bytes, &head)
    }
    var cursor = start
    while cursor < target.upperBound {
      let byte = bytes.byte(at: cursor)
      if byte == 0x3F { break }
      // RFC 9112, 3.2: no fragment in a request; what reads it as one would see another path than we do.
      if byte == 0x23 { throw .target }
      cursor += 1
    }
    head.path = start..<cursor
    head.query = cursor..<target.upperBound
    while cursor < target.upperBound {
      if bytes.byte(at: cursor) == 0x23 { throw .target }
      cursor += 1
    }
  }

  /// `http://authority/path`: the authority of the target wins over `Host` (RFC 9112, 3.2.2).
  /// - Returns: where the path begins.
  private static func absoluteForm(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) -> Int {
    let target = head.target
    var start = target.lowerBound
    if target.count > 7, bytes.equalsIgnoringCase("http://", start..<start + 7) {
      start += 7
    } else if target.count > 8, bytes.equalsIgnoringCase("https://", start..<start + 8) {
      start += 8
    } else {
      throw .target
    }
    var end = start
    while end < target.upperBound, bytes.byte(at: end) != 0x2F, bytes.byte(at: end) != 0x3F { end += 1 }
    guard Authority.isWellFormed(bytes, start..<end) else { throw .target }
    head.isAbsoluteForm = true
    head.authority = start..<end
    return end
  }

  @inline(__always)
  private static func host(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) {
    guard let line = head.fields.line(.host) else {
      if head.isHTTP11 { throw .hostMissing }
      return
    }
    if head.fields.isRepeated(.host) { throw .hostRepeated }
    guard Authority.isWellFormed(bytes, line.value) else { throw .hostMalformed }
    if !head.isAbsoluteForm { head.authority = line.value }
  }

  @inline(__always)
  private static func framing(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) {
    switch try head.fields.announcedFraming(bytes, isHTTP11: head.isHTTP11) {
    case .nothing, .length(0): head.framing = .none
    case .length(let length): head.framing = .length(length)
    case .chunked: head.framing = .chunked
    }
  }

  @inline(__always)
  private static func connection(_ bytes: RawSpan, _ head: inout RequestHead) throws(HeadViolation) {
    let options = try head.fields.connectionOptions(bytes)
    head.keepAlive = options.persists(isHTTP11: head.isHTTP11)
    head.nominatesFields = options.nominates
    head.wantsUpgrade = options.upgrade && head.isHTTP11 && carriesNoRequests(bytes, head)
  }

  /// Whether there is one `Upgrade` field, and none of its protocols carries HTTP again (`h2c`, `HTTP/2.0`, `TLS/1.2`):
  /// requests within such a tunnel would reach the application past everything that guards it. RFC 9110, 7.8 lets a
  /// server ignore the field.
  private static func carriesNoRequests(_ bytes: RawSpan, _ head: borrowing RequestHead) -> Bool {
    guard let line = head.fields.line(.upgrade), !head.fields.isRepeated(.upgrade), !line.value.isEmpty else {
      return false
    }
    var found = false
    bytes.forEachListElement(line.value) { element in
      let count = element.count
      let start = element.lowerBound
      if count >= 2, bytes.equalsIgnoringCase("h2", start..<start + 2) { found = true }
      if count >= 3, bytes.equalsIgnoringCase("tls", start..<start + 3) { found = true }
      if count >= 4, bytes.equalsIgnoringCase("http", start..<start + 4) { found = true }
    }
    return !found
  }
}
