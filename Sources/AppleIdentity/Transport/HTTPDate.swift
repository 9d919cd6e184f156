package import FoundationEssentials

/// The time in a `Date` field (RFC 9110 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. Of the three forms only this one is
/// sent by anybody today.
package enum HTTPDate {
  /// `nil` for anything but a date of that form between 1970 and 9999. The day of the week is not compared.
  package static func parse(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), bytes[25...].elementsEqual(" GMT".utf8),
      [4, 7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
      [19, 22].allSatisfy({ bytes[$0] == UInt8(ascii: ":") }),
      let day = number(bytes[5..<7]), let year = number(bytes[12..<16]), let hour = number(bytes[17..<19]),
      let minute = number(bytes[20..<22]), let second = number(bytes[23..<25]),
      let month = months.firstIndex(where: { $0.utf8.elementsEqual(bytes[8..<11]) }),
      year >= 1970, (1...daysIn(month: month, of: year)).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = daysBefore(year: year) + (0..<month).reduce(0) { $0 + daysIn(month: $1, of: year) } + day - 1
    return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second))
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// At most four digits.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return value
  }

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func daysIn(month: Int, of year: Int) -> Int {
    month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
  }

  /// From 1970-01-01 to the first day of a year.
  private static func daysBefore(year: Int) -> Int {
    (1970..<year).reduce(0) { $0 + (isLeap($1) ? 366 : 365) }
  }
}
