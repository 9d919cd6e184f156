import Sessions
import WebFormats

/// A rate of events: `60/m`; or `off`.
enum RateText {
  private static let remedy = "write \"off\", or a number from 1 to 1000000 and s, m or h, as in \"60/m\""

  static func parse(_ text: String) throws(Diagnostic) -> SignInRate? {
    if text.utf8.elementsEqual("off".utf8) { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 2, let count = DecimalDigits.parse(canonical: parts[0], limit: 1_000_000), count > 0,
      let period = SignInRate.Period.allCases.first(where: { $0.rawValue.utf8.elementsEqual(parts[1]) })
    else { throw Diagnostic("is not a rate", remedy: remedy) }
    return SignInRate(count: Int(count), period: period)
  }

  static func format(_ rate: SignInRate?) -> String { rate.map { "\($0.count)/\($0.period.rawValue)" } ?? "off" }
}

extension ValueType where Value == SignInRate? {
  static var rate: ValueType {
    text(
      "rate", expected: "a rate, as in \"60/m\", or \"off\"", write: RateText.format,
      parse: { text, _ throws(Diagnostic) in
        try RateText.parse(text)
      })
  }
}
