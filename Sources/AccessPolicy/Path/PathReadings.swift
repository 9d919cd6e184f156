internal import WebFormats

/// The paths that servers read in place of one with ``PathAmbiguity/cookieless``, ``PathAmbiguity/hidingParameter``,
/// ``PathAmbiguity/leadingDoubleSlash`` or ``PathAmbiguity/doubleEncoding``:
/// - without a cookieless segment: `/(S(x))/a` is `/a`, and `/a/(S(x))b` is `/ab` or `/a/b`,
/// - with parameters dropped before separators are decoded: `/a;x%2Fy/b` is `/a/b`,
/// - with nested escapes decoded: `/a%252Fb` is `/a%2Fb`, which then has readings of its own,
/// - without the authority of a network-path reference (RFC 3986, 4.2): `//host/x` is `/x`.
struct PathReadings {
  /// Each with its classification, which is no refusal and not one that could be anywhere.
  private(set) var paths: [(path: [UInt8], classification: PathClassification)] = []
  /// Whether there is a reading that could be anywhere: it has a dot segment or a control byte, or its escapes can be
  /// decoded, or its parameters or a cookieless segment dropped, once more.
  private(set) var couldBeAnywhere = false

  /// Most readings, and most bytes of all of them; a path with more could be anywhere. Each is classified and matched,
  /// before anybody is signed in.
  static let limit = 32
  private static let byteLimit = 16 * 1024
  private var bytes = 0

  private enum Step { case decoding, droppingParameters, droppingAuthority, droppingSegment }

  /// - Complexity: O(*n*): there are at most ``limit`` readings, none longer than the path.
  init(of path: Span<UInt8>) { expand(path, after: []) }

  private mutating func expand(_ path: Span<UInt8>, after steps: [Step]) {
    if let decoded = Self.decodingNestedEscapes(path) { add(decoded, .decoding, after: steps) }
    if Self.hasParameter(path) {
      for endsAtEncodedSlash in [false, true] {
        add(Self.droppingParameters(path, endsAtEncodedSlash: endsAtEncodedSlash), .droppingParameters, after: steps)
      }
    }
    if let start = Self.authority(of: path) {
      for separators in Separators.all {
        add(Self.rest(of: path, from: start, behind: separators), .droppingAuthority, after: steps)
      }
    }
    dropCookielessSegment(of: path, after: steps)
  }

  private mutating func add(_ path: [UInt8], _ step: Step, after steps: [Step]) {
    if couldBeAnywhere || paths.contains(where: { $0.path == path }) { return }
    bytes += path.count
    guard bytes <= Self.byteLimit else {
      couldBeAnywhere = true
      return
    }
    let classification = PathClassification.classify(path.span)
    switch classification {
    case .refused: couldBeAnywhere = true
    case .ambiguous(let ambiguity): couldBeAnywhere = ambiguity.couldBeAnywhere
    case .canonical: break
    }
    // Each authority that is dropped (`//x//y`) leaves a shorter path.
    let isRepeated = step != .droppingAuthority && steps.contains(step)
    if couldBeAnywhere || isRepeated || paths.count == Self.limit {
      couldBeAnywhere = true
      return
    }
    paths.append((path, classification))
    expand(path.span, after: steps + [step])
  }

  // MARK: Double encoding

  /// The path with each `%25` decoded before two hexadecimal digits; nil if no `%25` is followed by them.
  private static func decodingNestedEscapes(_ path: Span<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    var copied = 0
    var index = 0
    while index < path.count {
      guard isNestedEscape(path, at: index) else {
        index += 1
        continue
      }
      for place in copied...index { result.append(path[place]) }
      index += 3
      copied = index
    }
    if copied == 0 { return nil }
    for place in copied..<path.count { result.append(path[place]) }
    return result
  }

  private static func isNestedEscape(_ path: Span<UInt8>, at index: Int) -> Bool {
    guard case (UInt8(ascii: "%"), let next)? = PathByte.decoded(path, at: index), next + 1 < path.count else {
      return false
    }
    return Hex.value(of: path[next]) != nil && Hex.value(of: path[next + 1]) != nil
  }

  // MARK: Parameters

  private static func hasParameter(_ path: Span<UInt8>) -> Bool {
    for index in 0..<path.count where beginsParameter(path, at: index) { return true }
    return false
  }

  /// The path without its parameters.
  /// - Parameter endsAtEncodedSlash: whether an encoded `/` ends one, too.
  private static func droppingParameters(_ path: Span<UInt8>, endsAtEncodedSlash: Bool) -> [UInt8] {
    var result: [UInt8] = []
    var inParameter = false
    var index = 0
    while index < path.count, let (byte, next) = PathByte.decoded(path, at: index) {
      if byte == UInt8(ascii: "/"), endsAtEncodedSlash || next == index + 1 { inParameter = false }
      if beginsParameter(path, at: index) { inParameter = true }
      if !inParameter { for place in index..<next { result.append(path[place]) } }
      index = next
    }
    return result
  }

  /// Whether a `;` is there, raw, encoded, or in a form that normalization turns into it.
  private static func beginsParameter(_ path: Span<UInt8>, at index: Int) -> Bool {
    guard let (byte, _) = PathByte.decoded(path, at: index) else { return false }
    if byte < 0x80 { return byte == UInt8(ascii: ";") }
    return PathByte.scalar(path, at: index).map { CompatibilityLetters.ascii(of: $0.scalar) } == 0x3B
  }

  // MARK: Cookieless segments

  /// Adds the path without its cookieless segment. One with several could be anywhere: servers remove the first of
  /// them, the last or all.
  private mutating func dropCookielessSegment(of path: Span<UInt8>, after steps: [Step]) {
    var found: CookielessSegment?
    var index = 0
    while index < path.count, let (byte, next) = PathByte.decoded(path, at: index) {
      if byte == UInt8(ascii: "("), let segment = CookielessSegment(in: path, at: index) {
        if found != nil { couldBeAnywhere = true }
        found = segment
      }
      index = next
    }
    guard let found, !couldBeAnywhere else { return }
    let joined = Self.path(path, without: found.separator.lowerBound..<found.end)
    let isPath = joined.first == UInt8(ascii: "/")
    if isPath { add(joined, .droppingSegment, after: steps) }
    if !isPath || !found.isWhole(in: path) {
      add(Self.path(path, without: found.separator.upperBound..<found.end), .droppingSegment, after: steps)
    }
  }

  private static func path(_ path: Span<UInt8>, without range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(path.count - range.count)
    for place in 0..<range.lowerBound { result.append(path[place]) }
    for place in range.upperBound..<path.count { result.append(path[place]) }
    return result
  }

  // MARK: Network-path reference

  /// The bytes that end an authority: `/`, and those encoded ones that a server decodes before it looks for the end.
  private struct Separators {
    var encodedSlash: Bool
    var encodedBackslash: Bool

    static let all = [
      Separators(encodedSlash: false, encodedBackslash: false), Separators(encodedSlash: true, encodedBackslash: false),
      Separators(encodedSlash: false, encodedBackslash: true), Separators(encodedSlash: true, encodedBackslash: true),
    ]
  }

  /// The place behind the separators that a path begins with, if there are at least two.
  private static func authority(of path: Span<UInt8>) -> Int? {
    var index = 1
    while index < path.count, let (byte, next) = PathByte.decoded(path, at: index),
      byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
    {
      index = next
    }
    return index > 1 ? index : nil
  }

  /// The path behind an authority, with one slash before it.
  private static func rest(of path: Span<UInt8>, from start: Int, behind separators: Separators) -> [UInt8] {
    var result = [UInt8(ascii: "/")]
    var index = start
    while index < path.count, let (byte, next) = PathByte.decoded(path, at: index) {
      let isEncoded = next > index + 1
      let isEnd =
        byte == UInt8(ascii: "/") && (!isEncoded || separators.encodedSlash)
        || byte == UInt8(ascii: "\\") && separators.encodedBackslash
      index = next
      if isEnd { break }
    }
    result.reserveCapacity(path.count - index + 1)
    for place in index..<path.count { result.append(path[place]) }
    return result
  }
}
