/// Sanitizes untrusted text for a log line or an error message: printable ASCII, bounded.
///
/// Everything else becomes `?`, so that no control character, line break or bidirectional override gets through.
/// Apple's error descriptions are undocumented: they are kept only for the operator to read.
enum LogText {
  static func sanitized(_ text: String, maximumBytes: Int = 200) -> String {
    let kept = text.utf8.prefix(maximumBytes).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
    return String(decoding: kept, as: UTF8.self)
  }
}
