internal import WebFormats

/// The parts of the fields that state preferences: `Accept`, `Accept-Language` (RFC 9110, 12.4).
enum PreferenceField {
  /// Without white space around it, in lower case.
  static func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.trimmingOptionalWhitespace.map(\.asciiLowercased)
  }

  /// The weight in thousandths: 1,000 unless `q=` says otherwise; nil if it is none (`qvalue = "0" ["." 0*3DIGIT] /
  /// "1" ["." 0*3"0"]`).
  ///
  /// - Parameter parameters: what followed the value's first `;`, each ``trimmed(_:)``.
  static func weight(_ parameters: ArraySlice<[UInt8]>) -> Int? {
    guard let parameter = parameters.first(where: { $0.starts(with: "q=".utf8) }) else { return 1000 }
    let value = parameter.dropFirst(2)
    let fraction = value.dropFirst(2)
    guard let first = value.first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"), value.count <= 5,
      value.dropFirst().first.map({ $0 == UInt8(ascii: ".") }) ?? true,
      fraction.allSatisfy(\.isASCIIDigit)
    else { return nil }
    var weight = Int(first - UInt8(ascii: "0")) * 1000
    var unit = 100
    for digit in fraction {
      weight += Int(digit - UInt8(ascii: "0")) * unit
      unit /= 10
    }
    return weight <= 1000 ? weight : nil
  }
}
