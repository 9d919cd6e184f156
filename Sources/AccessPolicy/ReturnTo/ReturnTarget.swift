internal import WebFormats

/// The destination after sign-in or sign-out: always a path on our own origin.
package struct ReturnTarget: Sendable, Equatable {
  /// The path, with the query and the fragment if there are any: printable ASCII, beginning with exactly one `/`.
  package let path: String

  /// The front page, the default.
  package static let frontPage = ReturnTarget(path: "/")

  /// The longest accepted target, in bytes: 2,048.
  package static let maximumLength = 2048
  /// The longest target that a sign-in keeps if a page of another site began it, in bytes: 512. Such a page can begin
  /// any number of them, and each target is in a cookie, which is sent with every request.
  package static let maximumCrossSiteLength = 512

  private init(path: String) {
    self.path = path
  }

  /// Parses a `return_to`, once percent-decoded, or a request target. What is not accepted becomes the front page.
  ///
  /// Accepted is a path on our origin, or an absolute URL of exactly our origin, which is classified again when it is
  /// requested: `//` after the first segment, `%2F`, `%3F`, `%23`, `%252F`, bytes of older encodings and backslashes of
  /// the query stay as they are. Refused are `//evil`, `/\evil`, `/%09/evil`, `/%2f/evil`, `/;/evil`, `https:evil`,
  /// `javascript:`, `/..//evil`, letters beyond ASCII, confusable and overlong slashes, and every path that
  /// ``PathClassification/classify(_:)`` refuses, also once nested escapes are decoded. Gateway endpoints that would
  /// cause a redirect loop are refused too.
  ///
  /// - Parameters:
  ///   - bytes: what the client sent.
  ///   - origin: our own origin.
  ///   - prefix: the path of our own pages, as in `/.auth`.
  package init(parsing bytes: Span<UInt8>, origin: PublicOrigin, prefix: String) {
    self = Self.parse(bytes, origin: origin, prefix: prefix) ?? .frontPage
  }

  /// Parses the bytes of an array.
  package init(parsing bytes: [UInt8], origin: PublicOrigin, prefix: String) {
    self.init(parsing: bytes.span, origin: origin, prefix: prefix)
  }

  /// As the value of a query item: everything percent-encoded but unreserved bytes and `/`.
  package var queryValue: String { PercentEncoding.encode(path, keepsSlash: true) }

  private static func parse(_ bytes: Span<UInt8>, origin: PublicOrigin, prefix: String) -> ReturnTarget? {
    guard bytes.count > 0, bytes.count <= maximumLength else { return nil }
    let pathEnd = endOfPath(bytes)
    for index in 0..<bytes.count {
      guard bytes[index] > 0x20, bytes[index] < 0x7F else { return nil }
      // Browsers read it as a slash, but not behind the path (URL Standard, 4.4), where they leave it as it is:
      // `?file=\\server\share`.
      if bytes[index] == UInt8(ascii: "\\"), index < pathEnd { return nil }
    }
    var target = bytes
    if bytes[0] != UInt8(ascii: "/") {
      let text = Array(origin.description.utf8)
      guard bytes.count >= text.count else { return nil }
      for index in text.indices where bytes[index].asciiLowercased != text[index] { return nil }
      if bytes.count == text.count { return .frontPage }
      target = bytes.extracting(text.count...)
    }
    let path = target.extracting(..<endOfPath(target))
    guard isHarmless(path), !isCircular(path, prefix: Array(prefix.utf8)) else { return nil }
    return ReturnTarget(path: String(decoding: (0..<target.count).map { target[$0] }, as: UTF8.self))
  }

  private static func endOfPath(_ target: Span<UInt8>) -> Int {
    for index in 0..<target.count where target[index] == UInt8(ascii: "?") || target[index] == UInt8(ascii: "#") {
      return index
    }
    return target.count
  }

  /// The maximum depth of nested escapes (`%252F`); a path that nests deeper is refused.
  private static let deepestNesting = 3

  /// Whether the path stays on our origin for a browser, and for a server that decodes it more than once and redirects.
  private static func isHarmless(_ path: Span<UInt8>) -> Bool {
    var path = (0..<path.count).map { path[$0] }
    for _ in 0...deepestNesting {
      guard isHarmless(asWritten: path.span) else { return false }
      let decoded = decodingNestedEscapes(path)
      if decoded.count == path.count { return true }
      path = decoded
    }
    return false
  }

  private static func isHarmless(asWritten path: Span<UInt8>) -> Bool {
    switch PathClassification.classify(path) {
    case .refused, .ambiguous(.leadingDoubleSlash), .ambiguous(.nestedEncoding), .ambiguous(.confusable),
      .ambiguous(.dots):
      return false
    case .canonical, .ambiguous: break
    }
    return !mayBeginWithTwoSlashes(path) && !hasOverlongForm(path)
  }

  /// Whether some server may read two slashes, which begin a host, where the path begins with one: a separator or a
  /// parameter without a segment before it, written plainly or percent-encoded.
  private static func mayBeginWithTwoSlashes(_ path: Span<UInt8>) -> Bool {
    guard path.count > 1, let (second, _) = PathByte.decoded(path, at: 1) else { return false }
    switch second {
    case UInt8(ascii: "/"), UInt8(ascii: "\\"): return true
    case UInt8(ascii: ";"): return (2..<path.count).contains { path[$0] == UInt8(ascii: "/") }
    default: return false
    }
  }

  /// Whether a byte sequence begins an overlong form of UTF-8 (RFC 3629, 3), which lenient decoders read as ASCII:
  /// `%C0%AF` as `/`. In Latin-1 they would be an accented capital before a control or a symbol, which no name has.
  private static func hasOverlongForm(_ path: Span<UInt8>) -> Bool {
    var index = 0
    while index < path.count {
      guard let (byte, next) = PathByte.decoded(path, at: index) else { return true }
      if byte >= 0xC0, next < path.count, let (following, _) = PathByte.decoded(path, at: next) {
        switch (byte, following) {
        case (0xC0...0xC1, 0x80...0xBF), (0xE0, 0x80...0x9F), (0xF0, 0x80...0x8F): return true
        default: break
        }
      }
      index = next
    }
    return false
  }

  /// The path with each percent-encoded `%` decoded that begins an escape once its own are decoded: `%252F` becomes
  /// `%2F`. Any other stays: `100%25`.
  private static func decodingNestedEscapes(_ path: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < path.count {
      result.append(path[index])
      let isPercent = path[index...].prefix(3).elementsEqual("%25".utf8)
      index += isPercent && beginsEscape(path, behindPercentAt: index + 3) ? 3 : 1
    }
    return result
  }

  private static func beginsEscape(_ path: [UInt8], behindPercentAt index: Int) -> Bool {
    guard index < path.count, let (first, next) = PathByte.decoded(path.span, at: index) else { return false }
    if first.asciiLowercased == UInt8(ascii: "u") { return true }
    guard Hex.value(of: first) != nil, next < path.count else { return false }
    return PathByte.decoded(path.span, at: next).flatMap { Hex.value(of: $0.byte) } != nil
  }

  /// Whether the path is one of our own that starts, ends or refuses a sign-in, also where it is spelled with more
  /// slashes, in capitals or percent-encoded.
  private static func isCircular(_ path: Span<UInt8>, prefix: [UInt8]) -> Bool {
    var folded: [UInt8] = []
    var index = 0
    while index < path.count, let (byte, next) = PathByte.decoded(path, at: index) {
      if byte != UInt8(ascii: "/") || folded.last != byte { folded.append(byte.asciiLowercased) }
      index = next
    }
    let prefix = prefix.map(\.asciiLowercased) + [UInt8(ascii: "/")]
    guard folded.starts(with: prefix) else { return false }
    let page = folded.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ";") }
    return GatewayEndpoint.allCases.contains { !$0.mayBeReturnedTo && $0.rawValue.utf8.elementsEqual(page) }
  }
}
