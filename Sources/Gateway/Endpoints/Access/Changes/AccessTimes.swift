internal import FoundationEssentials
internal import Sessions
internal import WebFormats

/// Dates and ages as operators write them: `2026-12-31`, RFC 3339, or `30d`.
enum AccessTimes {
  /// The moment at which something ends: a date alone is the end of that day in UTC, an age counts from now.
  static func end(_ text: String, now: Date) throws(AdminError) -> Date {
    switch DateText(text.utf8) {
    // Its last second, so that lists show the day that was written.
    case .day(let midnight): return Date(timeIntervalSince1970: Double(midnight + 86_399))
    case .moment(let second): return Date(timeIntervalSince1970: Double(second))
    case nil: return now.addingTimeInterval(try seconds(text, otherwise: .badDate))
    }
  }

  /// The latest end of an invitation or a token, in days from now.
  static let longestDays = 366

  /// The end of an invitation or a token, which is to come and not too far away.
  static func expiry(_ text: String, now: Date) throws(AdminError) -> Date {
    let end = try Self.end(text, now: now)
    guard end > now else { throw .pastDate }
    guard end <= now.addingTimeInterval(Double(longestDays) * 86_400) else { throw .endTooLate }
    return end
  }

  /// The moment since when something was seen: a date alone is the beginning of that day in UTC, an age counts back.
  static func since(_ text: String, now: Date) throws(AdminError) -> Date {
    switch DateText(text.utf8) {
    case .day(let midnight): return Date(timeIntervalSince1970: Double(midnight))
    case .moment(let second): return Date(timeIntervalSince1970: Double(second))
    case nil: return now.addingTimeInterval(-(try seconds(text, otherwise: .badBeginning)))
    }
  }

  private static func seconds(
    _ text: String, otherwise problem: AdminError
  ) throws(AdminError) -> Double {
    do throws(DurationNotation.ParseError) {
      return try DurationNotation.parse(text).timeInterval
    } catch {
      throw problem
    }
  }
}
