/// Recognizes patterns that operators of other proxies write where a path is expected: wildcards (`/api/*`), regular
/// expressions (`^/api/.*`, `/api/.+`, `/api$`) and parameters (`/api/:id`, `/api/{id}`, `/api/<id>`).
enum PathPattern {
  /// The remedy for a pattern; nil for a path that is not a pattern.
  static func remedy(for path: [UInt8]) -> String? {
    let isAnchored = path.first == UInt8(ascii: "^") || path.first == UInt8(ascii: "~")
    // nginx writes "~ ^/api".
    let literal = path.drop { $0 == UInt8(ascii: "^") || $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: " ") }
    let end = literal.indices.first { isPattern(literal[$0], literal[..<$0], literal[($0 + 1)...]) }
    guard isAnchored || end != nil else { return nil }
    var prefix = literal[..<(end ?? literal.endIndex)]
    if let end, literal[end] != UInt8(ascii: "$") {
      prefix = prefix[..<(prefix.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? prefix.startIndex)]
    }
    guard prefix.first == UInt8(ascii: "/"), case .canonical = PathClassification.classify(Array(prefix).span) else {
      return "write \"/public/\", for instance, for everything below it"
    }
    return "write \"\(String(decoding: prefix, as: UTF8.self))\" for everything below it"
  }

  private static func isPattern(_ byte: UInt8, _ before: ArraySlice<UInt8>, _ after: ArraySlice<UInt8>) -> Bool {
    switch byte {
    case UInt8(ascii: "*"): true
    case UInt8(ascii: "."): after.first == UInt8(ascii: "+")
    case UInt8(ascii: "$"): after.isEmpty
    case UInt8(ascii: ":"): before.last == UInt8(ascii: "/")
    case UInt8(ascii: "{"): before.last == UInt8(ascii: "/") && after.contains(UInt8(ascii: "}"))
    case UInt8(ascii: "<"): before.last == UInt8(ascii: "/") && after.contains(UInt8(ascii: ">"))
    default: false
    }
  }
}
