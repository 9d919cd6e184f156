/// A day of the proleptic Gregorian calendar.
package struct CivilDate: Sendable, Equatable {
  /// Astronomical: 0 is 1 BC.
  package let year: Int64
  /// From 1 to 12.
  package let month: Int64
  /// From 1 to 31.
  package let day: Int64

  /// The day that is this many days after 1970-01-01: Howard Hinnant's `civil_from_days`, which counts in eras of 400
  /// years (146,097 days) that begin in March.
  /// - Parameter days: negative before 1970; not near the limits of `Int64`, which no time in seconds reaches.
  package init(daysSince1970 days: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}
