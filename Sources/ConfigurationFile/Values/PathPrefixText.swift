import WebFormats

/// The path prefix of the gateway's own pages: `/.auth`.
enum PathPrefixText {
  private static let remedy =
    "write something like \"/.auth\": \"/\", then letters, digits, \".\", \"-\", \"_\" or \"~\""

  static func parse(_ text: String) throws(Diagnostic) -> String {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "/") else { throw Diagnostic("does not begin with \"/\"", remedy: remedy) }
    guard bytes.count > 1 else {
      throw Diagnostic("would match every path of the application", remedy: remedy)
    }
    guard bytes.last != UInt8(ascii: "/") else {
      throw Diagnostic("ends with \"/\"", remedy: "leave the last \"/\" out")
    }
    guard bytes.count <= 128 else { throw Diagnostic("is longer than 128 bytes", remedy: remedy) }
    for segment in bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard !segment.isEmpty, segment.allSatisfy(\.isUnreserved), !segment.allSatisfy({ $0 == UInt8(ascii: ".") })
      else { throw Diagnostic("is not a plain path", remedy: remedy) }
    }
    return text
  }
}
