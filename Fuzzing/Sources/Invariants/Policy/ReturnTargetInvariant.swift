import AccessPolicy

extension Invariant {
  /// A browser that follows a return target stays on our origin, wherever it is; and what a client asked for is where
  /// it goes, or the front page is.
  static let returnTarget = Invariant("return-to") { bytes in
    let origin = FixedOrigin.origin
    let target = ReturnTarget(parsing: bytes, origin: origin, prefix: "/.auth")
    let path = Array(target.path.utf8)
    try require(path.first == 0x2F, "it begins with no slash: \(target.path)")
    try require(path.count < 2 || path[1] != 0x2F && path[1] != 0x5C, "it names a host: \(target.path)")
    try require(path.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "bytes that no header should hold: \(target.path)")

    guard let url = BrowserURL(path) else { throw Violation(description: "no URL to a browser: \(target.path)") }
    try require(url.isOurs, "a browser goes to \(url)")
    try require(!url.path.starts(with: "//".utf8), "a browser goes to the path \(shown(url.path))")
    if target != .frontPage {
      try require(BrowserURL(bytes) == url, "asked for \(shown(bytes)), sent to \(target.path)")
    }
    let again = ReturnTarget(parsing: path, origin: origin, prefix: "/.auth")
    try require(again == target, "taken once more it is \(again.path)")
    let value = LenientReading.decoded(Array(target.queryValue.utf8))
    try require(value == path, "as a query value it is \(target.queryValue)")
  }
}

/// The origin of every run.
enum FixedOrigin {
  static let scheme = "https"
  static let host = "app.example.com"

  static let origin: PublicOrigin = {
    do {
      return try PublicOrigin(parsing: "\(scheme)://\(host)")
    } catch {
      preconditionFailure("this is an origin: \(error)")
    }
  }()
}

/// A reference as a browser on one of our pages resolves it: the parts of the URL Standard (4.4, basic URL parser) that
/// decide where a navigation goes. Hosts are compared, not checked: a host that is not ours byte for byte is another
/// site.
struct BrowserURL: Equatable, CustomStringConvertible {
  private(set) var scheme = Array(FixedOrigin.scheme.utf8)
  /// With user information and port, in lower case.
  private(set) var authority = Array(FixedOrigin.host.utf8)
  /// Dot segments resolved.
  private(set) var path: [UInt8] = []
  /// Query and fragment.
  private(set) var rest: [UInt8] = []

  private static let special = ["http", "https", "ws", "wss", "ftp", "file"].map { Array($0.utf8) }

  /// Nil for a failure.
  init?(_ reference: [UInt8]) {
    // Leading and trailing controls and spaces go, tabs and line ends go wherever they are.
    var input = reference[...]
    while let first = input.first, first <= 0x20 { input.removeFirst() }
    while let last = input.last, last <= 0x20 { input.removeLast() }
    input = ArraySlice(input.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D })

    var isSpecial = true
    if let (found, after) = Self.scheme(of: input) {
      isSpecial = Self.special.contains(found)
      let isOurs = found == scheme
      scheme = found
      input = after
      guard isSpecial else {
        // Another scheme: it has no authority, and its path is opaque.
        authority = []
        path = Array(input)
        return
      }
      // `https:x` on a page of https is relative; of another special scheme what follows is an authority.
      if !isOurs || Self.startsWithTwoSlashes(input) {
        takeAuthority(input.drop { $0 == 0x2F || $0 == 0x5C })
        return
      }
    } else if Self.startsWithTwoSlashes(input) {
      takeAuthority(input.drop { $0 == 0x2F || $0 == 0x5C })
      return
    }
    takePath(input)
  }

  var isOurs: Bool { scheme == Array(FixedOrigin.scheme.utf8) && authority == Array(FixedOrigin.host.utf8) }

  var description: String { "\(shown(scheme))://\(shown(authority))\(shown(path))\(shown(rest))" }

  private static func scheme(of input: ArraySlice<UInt8>) -> (scheme: [UInt8], rest: ArraySlice<UInt8>)? {
    guard let first = input.first, isLetter(first), let colon = input.firstIndex(of: 0x3A) else { return nil }
    let name = input[..<colon]
    let isName = name.allSatisfy {
      isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
    }
    return isName ? (name.map(lower), input[(colon + 1)...]) : nil
  }

  private static func startsWithTwoSlashes(_ input: ArraySlice<UInt8>) -> Bool {
    input.prefix(2).count == 2 && input.prefix(2).allSatisfy { $0 == 0x2F || $0 == 0x5C }
  }

  private mutating func takeAuthority(_ input: ArraySlice<UInt8>) {
    let end = input.firstIndex { "/\\?#".utf8.contains($0) } ?? input.endIndex
    authority = input[..<end].map(Self.lower)
    takePath(input[end...])
  }

  /// The page with the reference has the path `/`.
  private mutating func takePath(_ input: ArraySlice<UInt8>) {
    let end = input.firstIndex { $0 == 0x3F || $0 == 0x23 } ?? input.endIndex
    rest = Array(input[end...])
    let slashes = input[..<end].map { $0 == 0x5C ? 0x2F : $0 }
    let rooted = slashes.first == 0x2F ? slashes : [0x2F] + slashes
    var segments: [ArraySlice<UInt8>] = []
    let parts = rooted.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      switch Self.dots(part) {
      case 1: if isLast { segments.append([]) }
      case 2:
        _ = segments.popLast()
        if isLast { segments.append([]) }
      default: segments.append(part)
      }
    }
    path = segments.flatMap { [0x2F] + $0 }
  }

  /// The number of dots that a segment consists of, some of them perhaps as `%2e`; 0 for any other segment.
  private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
    let text = String(decoding: segment.map(lower), as: UTF8.self)
    return switch text {
    case ".", "%2e": 1
    case "..", ".%2e", "%2e.", "%2e%2e": 2
    default: 0
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) && byte >= 0x41 }
  private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 32 : byte }
}
