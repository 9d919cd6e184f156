/// The `Date` line of the responses of one event loop (RFC 9110 6.6.1): made once a second, copied for each response.
struct DateLine {
  private var second = Int64.min
  private var line: [UInt8] = []

  /// `Date: Sun, 06 Nov 1994 08:49:37 GMT` and its CR LF.
  /// - Parameter now: in milliseconds since 1970.
  @inline(__always)
  mutating func bytes(at now: Int64 = WallClock.now()) -> [UInt8] {
    if now / 1_000 != second { renew(now / 1_000) }
    return line
  }

  /// The places of the value within the line.
  static let value = 6..<35

  @inline(never)
  private mutating func renew(_ second: Int64) {
    self.second = second
    // The form has four digits for the year.
    let time = min(max(second, 0), 253_402_300_799)
    let (days, rest) = (Int(time / 86_400), Int(time % 86_400))
    let (year, month, day) = Self.date(days)
    line = Array("Date: ".utf8)
    // 1970 began on a Thursday.
    line += Self.weekdays[(days + 4) % 7].utf8
    line += ", ".utf8
    append(day)
    line += " \(Self.months[month - 1]) ".utf8
    append(year / 100)
    append(year % 100)
    for (separator, number) in [(" ", rest / 3_600), (":", rest / 60 % 60), (":", rest % 60)] {
      line += separator.utf8
      append(number)
    }
    line += " GMT\r\n".utf8
  }

  /// Adds two digits.
  private mutating func append(_ number: Int) { line += [UInt8(0x30 + number / 10 % 10), UInt8(0x30 + number % 10)] }

  /// The day of the Gregorian calendar that is so many days after 1970-01-01.
  private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    var (year, rest) = (1970 + days / 146_097 * 400, days % 146_097)
    while rest >= daysIn(year) {
      rest -= daysIn(year)
      year += 1
    }
    var month = 1
    while rest >= daysIn(month, of: year) {
      rest -= daysIn(month, of: year)
      month += 1
    }
    return (year, month, rest + 1)
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func daysIn(_ year: Int) -> Int { isLeap(year) ? 366 : 365 }

  private static func daysIn(_ month: Int, of year: Int) -> Int {
    month == 2 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
