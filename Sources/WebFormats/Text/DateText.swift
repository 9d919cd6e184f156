/// Dates as people write them: a day, `2026-12-31`, or a date and time of RFC 3339, 5.6, `2026-12-31T18:00:00+01:00`.
package enum DateText: Sendable, Equatable {
  /// A day in UTC, by the second at which it begins (since 1970).
  case day(Int64)
  /// Seconds since 1970. Fractions of a second are dropped.
  case moment(Int64)

  /// Nil for any other text, and for years before 1970.
  package init?(_ text: some Collection<UInt8>) {
    let bytes = Array(text)
    guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = DecimalDigits.parse(bytes[0..<4], limit: 9999),
      let month = DecimalDigits.parse(bytes[5..<7], limit: 12),
      let day = DecimalDigits.parse(bytes[8..<10], limit: 31),
      let midnight = HTTPDate.seconds(year: year, month: month, day: day)
    else { return nil }
    if bytes.count == 10 {
      self = .day(midnight)
    } else {
      guard let seconds = Self.time(bytes[10...]) else { return nil }
      self = .moment(midnight + seconds)
    }
  }

  /// `"T" partial-time time-offset`, in seconds. The letters have no case.
  private static func time(_ text: ArraySlice<UInt8>) -> Int64? {
    let bytes = Array(text)
    guard bytes.count >= 10, bytes[0].asciiLowercased == UInt8(ascii: "t"), bytes[3] == UInt8(ascii: ":"),
      bytes[6] == UInt8(ascii: ":"), let hour = DecimalDigits.parse(bytes[1..<3], limit: 23),
      let minute = DecimalDigits.parse(bytes[4..<6], limit: 59),
      let second = DecimalDigits.parse(bytes[7..<9], limit: 60)
    else { return nil }
    var rest = bytes[9...]
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix(while: \.isASCIIDigit)
      guard (1...18).contains(fraction.count) else { return nil }
      rest = rest.dropFirst(1 + fraction.count)
    }
    guard let offset = offset(Array(rest)) else { return nil }
    return Int64(hour * 3_600 + minute * 60 + second) - offset
  }

  /// `"Z" / ("+" / "-") time-hour ":" time-minute`, in seconds.
  private static func offset(_ bytes: [UInt8]) -> Int64? {
    if bytes.count == 1, bytes[0].asciiLowercased == UInt8(ascii: "z") { return 0 }
    guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
      bytes[3] == UInt8(ascii: ":"), let hours = DecimalDigits.parse(bytes[1..<3], limit: 23),
      let minutes = DecimalDigits.parse(bytes[4..<6], limit: 59)
    else { return nil }
    let seconds = Int64(hours * 3_600 + minutes * 60)
    return bytes[0] == UInt8(ascii: "-") ? -seconds : seconds
  }
}
