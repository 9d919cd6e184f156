internal import NIOCore

/// Gathers the fields of one section and writes them as an HTTP/1.1 head, so that one parser, one gate and one way of
/// forwarding judge the requests of both versions, and the responses as well.
///
/// Cookie crumbs are joined (RFC 9113 8.2.3), `:authority` becomes `Host` (8.3.1), and a body whose length is not
/// announced becomes a chunked one. What nghttp2 has looked at: names are lower-case tokens, values hold no CR, LF or
/// NUL, pseudo-header fields are known, come first, and none twice. What it leaves to us is here.
struct HTTP2HeadAssembly {
  /// What the whole section is.
  enum Outcome: Equatable {
    /// A head in `head`.
    case head
    /// A request that RFC 9113 8.1.1 calls malformed.
    case malformed(String)
    /// A well-formed request that is answered with this status.
    case refused(status: Int, String)
  }

  /// The head as it is written.
  var head = ByteBuffer()
  let limits: HeadLimits
  var cookies = ByteBuffer()
  /// The pseudo-header fields, and where each stands in it.
  var pseudo = ByteBuffer()
  var method = 0..<0
  var scheme = 0..<0
  var path = 0..<0
  var authority: Range<Int>?
  var connectsTo: Range<Int>?
  var status = 0..<0
  private var hasHost = false
  var hasLine = false
  var isTrailers = false
  var announcesLength = false
  var isTooLarge = false
  var problem: String?
  /// Of the section so far.
  private(set) var fieldCount = 0
  private(set) var byteCount = 0

  init(limits: HeadLimits) { self.limits = limits }

  /// Begins with another section; keeps the memory.
  mutating func reset() {
    head.clear()
    cookies.clear()
    pseudo.clear()
    method = 0..<0
    scheme = 0..<0
    path = 0..<0
    authority = nil
    connectsTo = nil
    status = 0..<0
    hasHost = false
    hasLine = false
    isTrailers = false
    announcesLength = false
    isTooLarge = false
    problem = nil
    fieldCount = 0
    byteCount = 0
  }

  /// Lets go of the memory.
  mutating func release() { self = HTTP2HeadAssembly(limits: limits) }

  /// A field that must not be in any section.
  mutating func refuse(_ reason: String) { problem = problem ?? reason }

  /// Takes one field.
  mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    fieldCount += 1
    byteCount += name.count + value.count
    // One line more, and a little room for what is written around them: the parser has the last word.
    guard !isTooLarge, fieldCount <= limits.fieldCount + 6, byteCount <= limits.headBytes else {
      isTooLarge = true
      return
    }
    if name.first == 0x3A { return takePseudo(name, value) }
    if !hasLine { writeFirstLine() }
    let bytes = RawSpan(_unsafeBytes: name)
    switch KnownField.classify(bytes, at: 0, count: name.count) {
    case .cookie:
      guard !value.isEmpty, !isTrailers else { return }
      if cookies.readableBytes > 0 { cookies.writeStaticString("; ") }
      cookies.writeBytes(value)
    case .host where !isTrailers: takeHost(value)
    // nghttp2 refuses these, too; what frames or ends a message in HTTP/1.1 must not depend on it (RFC 9113 8.2.2).
    case .connection, .transferEncoding, .upgrade, .keepAlive, .proxyConnection:
      refuse("a field of one connection")
    case .contentLength:
      announcesLength = true
      head.writeLine(name, value)
    // Ours takes its place (RFC 8441 5): an application that saw both could take either.
    case .other where connectsTo != nil && bytes.equals("sec-websocket-key", 0..<name.count): return
    default: head.writeLine(name, value)
    }
  }

  private mutating func takePseudo(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let start = pseudo.writerIndex
    pseudo.writeBytes(value)
    let place = start..<pseudo.writerIndex
    let bytes = RawSpan(_unsafeBytes: name)
    let whole = 0..<name.count
    if bytes.equals(":path", whole) {
      path = place
    } else if bytes.equals(":method", whole) {
      method = place
    } else if bytes.equals(":scheme", whole) {
      scheme = place
    } else if bytes.equals(":authority", whole) {
      authority = place
    } else if bytes.equals(":protocol", whole) {
      connectsTo = place
    } else if bytes.equals(":status", whole) {
      status = place
    } else {
      refuse("an unknown pseudo-header field")
    }
  }

  /// `Host` beside `:authority` must say the same (RFC 9113 8.3.1): a reader that takes the other one must not see
  /// another site.
  private mutating func takeHost(_ value: UnsafeRawBufferPointer) {
    guard !hasHost else { return refuse("Host is repeated") }
    hasHost = true
    guard let authority else { return head.writeLine(Self.hostName, value) }
    if !value.elementsEqual(pseudo.readableBytesView[authority]) { refuse("Host is another than :authority") }
  }

  private static var hostName: UnsafeRawBufferPointer {
    let name: StaticString = "Host"
    return UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
  }
}
