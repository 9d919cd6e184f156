internal import WebFormats

/// The languages that a client reads, the best first (`Accept-Language`, RFC 9110, 12.5.4).
///
/// Parsed as bytes. Malformed parts are ignored, and so is the rest of a field that is longer than any browser's.
package struct LanguagePreferences: Sendable, Equatable {
  /// Language ranges in lower case, without `*` and without those of weight 0; the order of the field among equals.
  let ranges: [String]

  /// Most bytes that are read, and most ranges. Browsers send a handful.
  private static let byteLimit = 1_024
  private static let rangeLimit = 32

  /// - Parameter acceptLanguage: the bytes of the field, several fields joined by commas; empty if there was none.
  package init(acceptLanguage: some Collection<UInt8>) {
    var weighed: [(range: String, weight: Int)] = []
    for element in Array(acceptLanguage.prefix(Self.byteLimit)).split(separator: UInt8(ascii: ","))
      .prefix(Self.rangeLimit)
    {
      let parts = element.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        .map(PreferenceField.trimmed)
      guard let range = parts.first, Self.isRange(range), let weight = PreferenceField.weight(parts.dropFirst()),
        weight > 0
      else { continue }
      weighed.append((String(decoding: range, as: UTF8.self), weight))
    }
    // Sorting keeps no order among equals, so the place in the field decides.
    ranges = weighed.enumerated().sorted {
      $0.element.weight == $1.element.weight ? $0.offset < $1.offset : $0.element.weight > $1.element.weight
    }.map(\.element.range)
  }

  /// The client's preferred available language: the lookup of RFC 4647, 3.4. Each range is shortened from its
  /// end until something is found, before the next one is tried.
  ///
  /// - Parameter table: by language tag in lower case.
  package func lookup<Value>(_ table: [String: Value]) -> Value? {
    for range in ranges {
      var subtags = range.utf8.split(separator: UInt8(ascii: "-"))
      while !subtags.isEmpty {
        let tag = subtags.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
        if let value = table[tag] { return value }
        subtags.removeLast()
        // A single letter or digit introduces what followed it, and goes with it.
        if let last = subtags.last, last.count == 1 { subtags.removeLast() }
      }
    }
    return nil
  }

  /// `1*8ALPHA *("-" 1*8(ALPHA / DIGIT))`, in lower case. `*` says nothing to a lookup.
  private static func isRange(_ bytes: [UInt8]) -> Bool {
    let subtags = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard let first = subtags.first, first.allSatisfy(\.isASCIILetter) else { return false }
    return subtags.allSatisfy { subtag in
      (1...8).contains(subtag.count)
        && subtag.allSatisfy(\.isASCIILetterOrDigit)
    }
  }
}
