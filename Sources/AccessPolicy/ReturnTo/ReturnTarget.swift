/// Where the browser goes after it has signed in or out: a path on our own origin. Nothing else can be one.
public struct ReturnTarget: Sendable, Equatable {
  /// The path, with the query and the fragment if there are any: printable ASCII, beginning with exactly one `/`.
  public let path: String

  /// The front page, where nothing better is known.
  public static let frontPage = ReturnTarget(path: "/")

  /// The longest accepted target, in bytes: 2,048.
  public static let maximumLength = 2048

  private init(path: String) {
    self.path = path
  }

  /// Parses a `return_to`, once percent-decoded, or a request target. What is not accepted becomes the front page.
  ///
  /// Accepted is a path on our origin, or an absolute URL of exactly our origin, whose path
  /// ``PathJudgement/judge(_:)`` finds canonical (or ambiguous by an encoded letter or a `;` only: such a path is
  /// judged again when it is requested). So `//evil`, `/\evil`, `/%09/evil`, `/%2f/evil`, `https:evil`, `javascript:`,
  /// `/..//evil` and letters beyond ASCII are not. Nor are our own pages that would lead around in a circle.
  ///
  /// - Parameters:
  ///   - bytes: what the client sent.
  ///   - origin: our own origin.
  ///   - prefix: the path of our own pages, as in `/.auth`.
  public init(parsing bytes: Span<UInt8>, origin: PublicOrigin, prefix: String) {
    self = Self.parse(bytes, origin: origin, prefix: prefix) ?? .frontPage
  }

  /// The same, of an array.
  public init(parsing bytes: [UInt8], origin: PublicOrigin, prefix: String) {
    self.init(parsing: bytes.span, origin: origin, prefix: prefix)
  }

  /// As the value of a query item: everything percent-encoded but unreserved bytes and `/`.
  public var queryValue: String {
    var result: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in path.utf8 {
      if PathByte.isUnreserved(byte) || byte == UInt8(ascii: "/") {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func parse(_ bytes: Span<UInt8>, origin: PublicOrigin, prefix: String) -> ReturnTarget? {
    guard bytes.count > 0, bytes.count <= maximumLength else { return nil }
    for index in 0..<bytes.count {
      guard bytes[index] > 0x20, bytes[index] < 0x7F, bytes[index] != UInt8(ascii: "\\") else { return nil }
    }
    var target = bytes
    if bytes[0] != UInt8(ascii: "/") {
      let text = Array(origin.description.utf8)
      guard bytes.count >= text.count else { return nil }
      for index in text.indices where PathByte.folded(bytes[index]) != text[index] { return nil }
      if bytes.count == text.count { return .frontPage }
      target = bytes.extracting(text.count...)
    }
    let path = target.extracting(..<endOfPath(target))
    guard isHarmless(PathJudgement.judge(path)), !isCircular(path, prefix: Array(prefix.utf8)) else { return nil }
    return ReturnTarget(path: String(decoding: (0..<target.count).map { target[$0] }, as: UTF8.self))
  }

  private static func endOfPath(_ target: Span<UInt8>) -> Int {
    for index in 0..<target.count where target[index] == UInt8(ascii: "?") || target[index] == UInt8(ascii: "#") {
      return index
    }
    return target.count
  }

  private static func isHarmless(_ judgement: PathJudgement) -> Bool {
    switch judgement {
    case .canonical, .ambiguous(.encodedUnreserved), .ambiguous(.parameter): true
    case .ambiguous, .refused: false
    }
  }

  /// Whether the path is one of our own that starts, ends or refuses a sign-in.
  private static func isCircular(_ path: Span<UInt8>, prefix: [UInt8]) -> Bool {
    let folded = (0..<path.count).map { PathByte.folded(path[$0]) }
    let prefix = prefix.map(PathByte.folded) + [UInt8(ascii: "/")]
    guard folded.starts(with: prefix) else { return false }
    let page = folded.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ";") }
    return ["sign-in", "authorize", "callback", "sign-out", "native", "notifications"]
      .contains { $0.utf8.elementsEqual(page) }
  }
}
