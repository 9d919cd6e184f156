/// The time in a `Date` field (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete forms are not read.
package enum HTTPDate {
  /// Parses a date from 1970 to 9999. The day of the week is not compared.
  /// - Returns: seconds since 1970; nil for any other text.
  package static func parse(_ text: some Collection<UInt8>) -> Int64? {
    let bytes = Array(text)
    guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), bytes[25...].elementsEqual(" GMT".utf8),
      [4, 7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
      [19, 22].allSatisfy({ bytes[$0] == UInt8(ascii: ":") }),
      let day = DecimalDigits.parse(bytes[5..<7], limit: 31),
      let year = DecimalDigits.parse(bytes[12..<16], limit: 9999),
      let hour = DecimalDigits.parse(bytes[17..<19], limit: 23),
      let minute = DecimalDigits.parse(bytes[20..<22], limit: 59),
      let second = DecimalDigits.parse(bytes[23..<25], limit: 60),
      let month = months.firstIndex(where: { $0.utf8.elementsEqual(bytes[8..<11]) }),
      let midnight = seconds(year: year, month: month + 1, day: day)
    else { return nil }
    return midnight + Int64(hour * 3600 + minute * 60 + second)
  }

  /// Appends the 29 bytes of a date. The form has four digits for the year: earlier and later times become the first
  /// and the last that it can express.
  /// - Parameter second: in seconds since 1970.
  package static func append(_ second: Int64, to bytes: inout [UInt8]) {
    let time = min(max(second, 0), 253_402_300_799)
    let (days, rest) = (time / 86_400, time % 86_400)
    let date = CivilDate(daysSince1970: days)
    // 1970 began on a Thursday.
    bytes += "\(weekdays[Int(days + 4) % 7]), ".utf8
    appendTwoDigits(date.day, to: &bytes)
    bytes += " \(months[Int(date.month) - 1]) ".utf8
    appendTwoDigits(date.year / 100, to: &bytes)
    appendTwoDigits(date.year % 100, to: &bytes)
    for (separator, number) in [(" ", rest / 3_600), (":", rest / 60 % 60), (":", rest % 60)] {
      bytes += separator.utf8
      appendTwoDigits(number, to: &bytes)
    }
    bytes += " GMT".utf8
  }

  private static func appendTwoDigits(_ number: Int64, to bytes: inout [UInt8]) {
    bytes += [number / 10 % 10, number % 10].map { UInt8(ascii: "0") + UInt8($0) }
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds from 1970 to the beginning of a day; nil if there is no such day.
  /// - Parameter month: from 1.
  package static func seconds(year: Int, month: Int, day: Int) -> Int64? {
    guard (1970...9999).contains(year), (1...12).contains(month),
      (1...daysIn(month: month - 1, of: year)).contains(day)
    else { return nil }
    let days = daysBefore(year: year) + (0..<month - 1).reduce(0) { $0 + daysIn(month: $1, of: year) } + day - 1
    return Int64(days * 86_400)
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func daysIn(year: Int) -> Int { isLeap(year) ? 366 : 365 }

  /// - Parameter month: from 0.
  private static func daysIn(month: Int, of year: Int) -> Int {
    month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
  }

  /// From 1970-01-01 to the first day of a year.
  private static func daysBefore(year: Int) -> Int { (1970..<year).reduce(0) { $0 + daysIn(year: $1) } }
}
