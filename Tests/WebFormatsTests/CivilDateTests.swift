import Testing
import WebFormats

@Suite("Days of the calendar")
struct CivilDateTests {
  @Test(
    "A day is found by its number since 1970",
    arguments: [
      (0, [1970, 1, 1]), (-1, [1969, 12, 31]), (59, [1970, 3, 1]), (11_016, [2000, 2, 29]), (11_017, [2000, 3, 1]),
      (47_540, [2100, 2, 28]), (47_541, [2100, 3, 1]), (2_932_896, [9999, 12, 31]), (-719_162, [1, 1, 1]),
      (-719_468, [0, 3, 1]), (-719_469, [0, 2, 29]), (-719_528, [0, 1, 1]), (-719_529, [-1, 12, 31]),
    ] as [(Int64, [Int64])])
  func known(days: Int64, expected: [Int64]) {
    let date = CivilDate(daysSince1970: days)
    #expect([date.year, date.month, date.day] == expected)
  }

  @Test("A date in any of four centuries is that of the day it was made of")
  func fourCenturies() {
    let wrong = stride(from: Int64(0), to: 146_097, by: 11).filter { days in
      let date = CivilDate(daysSince1970: days)
      let begins = HTTPDate.seconds(year: Int(date.year), month: Int(date.month), day: Int(date.day))
      return begins != days * 86_400
    }
    #expect(wrong.isEmpty)
  }
}
