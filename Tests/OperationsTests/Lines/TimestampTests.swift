import Testing

@testable import Operations

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "A moment is written as RFC 3339 in UTC with milliseconds",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (1_795_246_590_123_999, "2026-11-21T07:36:30.123Z"),
      (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
      (951_868_799_999_999, "2000-02-29T23:59:59.999Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
      (253_402_300_799_999_999, "9999-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func renders(microseconds: Int64, expected: String) {
    #expect(Timestamp(microseconds: microseconds).description == expected)
  }

  @Test("Moments that the format cannot write are written as the nearest that it can")
  func clamps() {
    #expect(Timestamp(microseconds: .max).description == "9999-12-31T23:59:59.999Z")
    #expect(Timestamp(microseconds: .min).description == "0000-01-01T00:00:00.000Z")
  }

  @Test("A reused buffer formats every timestamp again")
  func buffer() {
    var buffer = LogBuffer()
    let moments: [Int64] = [
      0, 999_999, 1_000_000, 999_000, 1_795_246_590_123_999, 1_795_246_590_999_999, 1_795_246_591_000_000, -1,
      -1_000_001,
      .max, .max - 1, .min, .min + 1_000_000,
    ]
    for moment in moments.map(Timestamp.init(microseconds:)) {
      buffer.removeAll()
      buffer.append(moment)
      #expect(
        buffer.withBytes { $0.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } } == moment.description)
    }
  }

  @Test("Seconds from outside never trap")
  func seconds() {
    #expect(Timestamp(seconds: 1.5).microseconds == 1_500_000)
    #expect(Timestamp(seconds: .infinity).microseconds == .max)
    #expect(Timestamp(seconds: -1e300).microseconds == .min)
    #expect(Timestamp(seconds: .nan).microseconds == 0)
  }
}
