/// Assembles the fields of one section into an HTTP/1.1 head, so that one gate and one forwarder handle the messages of
/// both versions. The ranges of all lines are recorded while they are written, so that the result of
/// ``RequestHeadParser`` is known without parsing.
///
/// Cookie crumbs are joined (RFC 9113, 8.2.3), `:authority` becomes `Host` (8.3.1), and a body whose length is not
/// announced becomes a chunked one.
///
/// Malformed requests (RFC 9113, 8.1.1) are detected here or, where HTTP/1.1 has the same rule, by
/// ``RequestSemantics``; nghttp2 does not check them. No byte enters the head unchecked.
struct HTTP2HeadAssembly: ~Copyable {
  /// The outcome of a whole section.
  enum Outcome: Equatable {
    /// A head in `text`.
    case head
    /// A malformed request (RFC 9113, 8.1.1).
    case malformed(String)
    /// A well-formed request that must be answered with this status.
    case refused(status: Int, String)
  }

  /// The part of a section that is being read.
  enum Part {
    /// The pseudo-header fields: the first line is not written yet.
    case pseudoFields
    /// The fields after them: the first line is written.
    case fields
    /// Trailers, which have no first line.
    case trailers
  }

  /// The announced length of the content.
  private enum AnnouncedLength {
    case none
    /// It is not a number.
    case malformed
    case bytes(Int)
  }

  let limits: HeadLimits
  private let isRequest: Bool
  var part = Part.pseudoFields
  /// The head as it is written, and its lines.
  var text = HeaderBuffer()
  var fields = FieldTable(capacity: 0)
  /// Offset of the first field line.
  var fieldsStart = 0
  var cookies = HeaderBuffer()
  /// The pseudo-header fields, and the range of each in it.
  var pseudo = HeaderBuffer()
  var method = 0..<0
  var scheme = 0..<0
  var path = 0..<0
  var authority: Range<Int>?
  var connectsTo: Range<Int>?
  var status = 0..<0
  private var hasHost = false
  private var announced = AnnouncedLength.none
  /// The value of `priority`, if any.
  private(set) var priority: HTTP2Priority?
  var isTooLarge = false
  var problem: String?
  /// Of the section so far.
  private(set) var fieldCount = 0
  private(set) var byteCount = 0
  /// Fields among them that were joined with the one before: cookie crumbs count as the one line that they become.
  private var joinedCrumbs = 0

  /// - Parameter isRequest: whether sections are those of requests rather than of responses.
  init(limits: HeadLimits, isRequest: Bool) {
    self.limits = limits
    self.isRequest = isRequest
  }

  /// Begins another section; keeps the memory.
  mutating func reset() {
    text.removeAll()
    fields.removeAll()
    cookies.removeAll()
    pseudo.removeAll()
    method = 0..<0
    scheme = 0..<0
    path = 0..<0
    authority = nil
    connectsTo = nil
    status = 0..<0
    hasHost = false
    part = .pseudoFields
    announced = .none
    priority = nil
    isTooLarge = false
    problem = nil
    fieldCount = 0
    byteCount = 0
    joinedCrumbs = 0
  }

  /// Whether a length of the content was announced.
  var announcesLength: Bool { if case .none = announced { false } else { true } }

  /// The length of the content, where one was announced that is a number.
  var announcedLength: Int? { if case .bytes(let count) = announced { count } else { nil } }

  /// Frees the memory.
  mutating func release() { self = HTTP2HeadAssembly(limits: limits, isRequest: isRequest) }

  /// A field that must not be in any section.
  mutating func refuse(_ reason: String) { problem = problem ?? reason }

  /// Takes one field.
  mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    fieldCount += 1
    byteCount += name.count + value.count
    // One more line, and some room for what is written around them: the reader of the head applies the exact limit.
    guard !isTooLarge, fieldCount - joinedCrumbs <= limits.fieldCount + 6, byteCount <= limits.headBytes else {
      isTooLarge = true
      return
    }
    guard value.isFieldValue else { return appendTrimmed(name, value) }
    let bytes = RawSpan(_unsafeBytes: name)
    if name.first == 0x3A { return takePseudo(bytes, value) }
    guard name.isFieldName else { return refuse("a malformed name") }
    if part == .pseudoFields { writeFirstLine() }
    let known = KnownField.classify(bytes, at: 0, count: name.count)
    switch known {
    case .cookie:
      guard !value.isEmpty, part != .trailers else { return }
      if cookies.count > 0 {
        cookies.append("; ")
        joinedCrumbs += 1
      }
      cookies.append(value)
    case .host where part != .trailers: takeHost(value)
    // Fields that frame or end a message in HTTP/1.1 have no meaning here (RFC 9113, 8.2.2).
    case .connection, .transferEncoding, .upgrade, .keepAlive, .proxyConnection:
      refuse("a field of one connection")
    // Other codings are of one connection, too (RFC 9113, 8.2.2).
    case .te where !RawSpan(_unsafeBytes: value).equalsIgnoringCase("trailers", 0..<value.count):
      refuse("te for something other than trailers")
    case .contentLength:
      announced = RawSpan(_unsafeBytes: value).decimal(0..<value.count).map(AnnouncedLength.bytes) ?? .malformed
      write(line: name, value, known)
    case .other where isRequest && bytes.equals("priority", 0..<name.count):
      var said = priority ?? HTTP2Priority()
      said.read(value)
      priority = said
      write(line: name, value, known)
    // Ours takes its place (RFC 8441, 5): an application that saw both could take either.
    case .other where connectsTo != nil && bytes.equals("sec-websocket-key", 0..<name.count): return
    default: write(line: name, value, known)
    }
  }

  /// Takes a field whose value is well-formed without the white space around it. RFC 9113, 8.2.1 asks for none; gRPC's
  /// messages and metadata have it all the same, and over HTTP/1.1 it means nothing (RFC 9110, 5.5).
  private mutating func appendTrimmed(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    let start = value.firstIndex { !isSpace($0) } ?? value.endIndex
    let end = value.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
    let trimmed = UnsafeRawBufferPointer(rebasing: value[start..<end])
    guard trimmed.count < value.count, trimmed.isFieldValue, name.first != 0x3A else {
      return refuse("a malformed value")
    }
    // It is counted again.
    fieldCount -= 1
    byteCount -= name.count + value.count
    append(name, trimmed)
  }

  /// Pseudo-header fields precede all others and occur once each (RFC 9113, 8.3).
  @inline(__always)
  private mutating func takePseudo(_ name: RawSpan, _ value: UnsafeRawBufferPointer) {
    guard part == .pseudoFields else { return refuse("a pseudo-header field after a regular field") }
    let whole = 0..<name.byteCount
    let isFirst: Bool
    let start = pseudo.count
    pseudo.append(value)
    let place = start..<pseudo.count
    if isRequest, name.equals(":path", whole) {
      isFirst = path.isEmpty
      path = place
    } else if isRequest, name.equals(":method", whole) {
      isFirst = method.isEmpty
      method = place
    } else if isRequest, name.equals(":scheme", whole) {
      isFirst = scheme.isEmpty
      scheme = place
    } else if isRequest, name.equals(":authority", whole) {
      isFirst = authority == nil
      authority = place
    } else if isRequest, name.equals(":protocol", whole) {
      isFirst = connectsTo == nil
      connectsTo = place
    } else if !isRequest, name.equals(":status", whole) {
      isFirst = status.isEmpty
      status = place
    } else {
      return refuse("an unknown pseudo-header field")
    }
    if !isFirst || place.isEmpty { refuse("a pseudo-header field that is repeated or empty") }
  }

  /// `Host` must equal `:authority` (RFC 9113, 8.3.1): a reader that takes the other one must not see
  /// another site.
  private mutating func takeHost(_ value: UnsafeRawBufferPointer) {
    guard !hasHost else { return refuse("Host is repeated") }
    hasHost = true
    guard let authority else { return write(line: "Host", value, .host) }
    if !value.elementsEqual(UnsafeRawBufferPointer(rebasing: pseudo.bytes[authority])) {
      refuse("Host is another than :authority")
    }
  }
}
