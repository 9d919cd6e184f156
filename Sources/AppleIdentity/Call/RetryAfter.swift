internal import WebFormats

/// The pause that Apple asks for with 429: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
enum RetryAfter {
  /// The longest pause, in seconds: an hour. A longer one is cut to it.
  private static let longest = 3_600

  /// - Parameters:
  ///   - value: of the field; nil without it.
  ///   - date: the field `Date` of the same response, from which a date counts: our clock may be wrong.
  /// - Returns: at most an hour, whatever the field says; nil if it says nothing that can be understood.
  static func pause(_ value: String?, date: String?) -> Duration? {
    guard let bytes = value?.utf8, !bytes.isEmpty else { return nil }
    // A number that is too large for anything else is a long time, too.
    if bytes.allSatisfy(\.isASCIIDigit) { return .seconds(DecimalDigits.parse(bytes, limit: longest) ?? longest) }
    guard let end = HTTPDate.parse(bytes), let start = date.flatMap({ HTTPDate.parse($0.utf8) }) else { return nil }
    return .seconds(min(max(end - start, 0), Int64(longest)))
  }
}
