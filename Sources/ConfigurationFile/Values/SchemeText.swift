import WebFormats

/// Custom URL schemes of native apps (RFC 3986, 3.1).
enum SchemeText {
  /// Schemes that belong to browsers and systems, not to an app.
  private static let foreign = [
    "http", "https", "ws", "wss", "ftp", "file", "data", "javascript", "vbscript", "blob", "about", "view-source",
    "mailto", "tel", "sms", "intent", "content", "filesystem", "ssh", "chrome",
  ]

  static func parse(_ text: String) throws(Diagnostic) -> String {
    let bytes = Array(text.utf8)
    let isScheme =
      bytes.first?.isASCIILetter == true && bytes.count <= 64
      && bytes.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    guard isScheme else {
      throw Diagnostic(
        "is not a URL scheme", remedy: "write the scheme alone, without \"://\", as in \"com.example.app\"")
    }
    let scheme = String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
    guard !foreign.contains(scheme) else {
      throw Diagnostic("is not an app's own scheme", remedy: "choose one that is, as in \"com.example.app\"")
    }
    return scheme
  }
}
