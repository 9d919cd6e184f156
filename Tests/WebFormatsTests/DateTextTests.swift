import Testing

@testable import WebFormats

// Dates and durations as operators write them.

@Suite("Dates and durations in texts")
struct DateTextTests {
  @Test(
    "A day is its first second in UTC, and a date and time is that second",
    arguments: [
      ("1970-01-01", DateText.day(0)), ("2026-12-31", .day(1_798_675_200)), ("2024-02-29", .day(1_709_164_800)),
      ("1970-01-01T00:00:00Z", .moment(0)), ("1970-01-02t00:00:01z", .moment(86_401)),
      ("1970-01-02T01:00:00+01:00", .moment(86_400)), ("1970-01-01T23:30:00-00:30", .moment(86_400)),
      ("1970-01-01T00:00:05.999Z", .moment(5)),
    ])
  func dates(text: String, expected: DateText) { #expect(DateText(text.utf8) == expected) }

  @Test(
    "A text that is not a day, or a date and time with its offset, is not a date",
    arguments: [
      "", "2026", "2026-13-01", "2026-00-01", "2026-02-29", "2026-04-31", "1969-12-31", "2026-1-1", "+026-01-01",
      "2026-01-01T", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+1:00",
      "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:60:00Z", "2026-01-01x", "30d",
    ])
  func noDates(text: String) { #expect(DateText(text.utf8) == nil) }

  @Test("A duration is a whole number and a unit, of a hundred years at most")
  func durations() throws {
    #expect(try DurationNotation.parse("30d") == .seconds(30 * 86_400))
    #expect(try DurationNotation.parse("0s") == .zero)
    for text in ["", "d", "30", "30 d", "-1d", "+1d", "1.5h", "30D", "1w"] {
      #expect(throws: DurationNotation.ParseError.malformed) { try DurationNotation.parse(text) }
    }
    for text in ["36501d", "99999999999999999999d"] {
      #expect(throws: DurationNotation.ParseError.tooLong) { try DurationNotation.parse(text) }
    }
  }
}
