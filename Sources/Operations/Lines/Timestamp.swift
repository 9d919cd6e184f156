internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A moment of the wall clock: microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Times are passed in by callers; `now()` is for the code that supplies them.
package struct Timestamp: Sendable, Hashable, Comparable {
  /// Microseconds since the Unix epoch; negative before it.
  package var microseconds: Int64

  /// A time in microseconds since the Unix epoch.
  package init(microseconds: Int64) { self.microseconds = microseconds }

  /// A time in seconds since the Unix epoch. A value out of range becomes the nearest one in range; NaN is the epoch.
  package init(seconds: Double) {
    let scaled = (seconds * 1e6).rounded()
    if scaled.isNaN {
      microseconds = 0
    } else {
      microseconds = Int64(exactly: scaled) ?? (scaled < 0 ? .min : .max)
    }
  }

  /// The system's clock.
  package static func now() -> Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)
  }

  /// Seconds since the Unix epoch.
  package var seconds: Double { Double(microseconds) / 1e6 }

  package static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }

  /// Appends the moment as RFC 3339, 5.6, in UTC with milliseconds: `2026-11-21T07:36:30.123Z`. Years outside
  /// 0000 to 9999, which that format cannot write, are written as the first or last moment that it can.
  func append(to bytes: inout some ByteSink & ~Copyable) {
    let (seconds, milliseconds) = written
    let days = Self.floorDivide(seconds, 86_400)
    let date = CivilDate(daysSince1970: days)
    let ofDay = seconds - days * 86_400
    Self.append(date.year, width: 4, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    Self.append(date.month, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    Self.append(date.day, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: "T"))
    Self.append(ofDay / 3_600, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    Self.append(ofDay / 60 % 60, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    Self.append(ofDay % 60, width: 2, to: &bytes)
    bytes.append(UInt8(ascii: "."))
    Self.appendFraction(milliseconds, to: &bytes)
  }

  /// Appends the moment in the Common Log Format, in UTC: `21/Nov/2026:07:36:30 +0000`.
  func appendCommon(to bytes: inout some ByteSink & ~Copyable) {
    let seconds = written.second
    let days = Self.floorDivide(seconds, 86_400)
    let date = CivilDate(daysSince1970: days)
    let ofDay = seconds - days * 86_400
    Self.append(date.day, width: 2, to: &bytes)
    bytes.append(Self.months[Int(date.month) - 1].utf8Span.span)
    Self.append(date.year, width: 4, to: &bytes)
    for (separator, number) in [(":", ofDay / 3_600), (":", ofDay / 60 % 60), (":", ofDay % 60)] as [(String, Int64)] {
      bytes.append(separator.utf8Span.span)
      Self.append(number, width: 2, to: &bytes)
    }
    bytes.append(" +0000")
  }

  private static let months = [
    "/Jan/", "/Feb/", "/Mar/", "/Apr/", "/May/", "/Jun/", "/Jul/", "/Aug/", "/Sep/", "/Oct/", "/Nov/", "/Dec/",
  ]

  /// The written value: the second since the epoch, and the milliseconds within it.
  var written: (second: Int64, milliseconds: Int64) {
    let milliseconds = Self.floorDivide(min(max(microseconds, Self.first), Self.last), 1_000)
    let second = Self.floorDivide(milliseconds, 1_000)
    return (second, milliseconds - second * 1_000)
  }

  /// Appends the fraction of the second, after the point.
  static func appendFraction(_ milliseconds: Int64, to bytes: inout some ByteSink & ~Copyable) {
    append(milliseconds, width: 3, to: &bytes)
    bytes.append(UInt8(ascii: "Z"))
  }

  /// 0000-01-01T00:00:00Z and the last microsecond of the year 9999.
  private static let first: Int64 = -62_167_219_200 * 1_000_000
  private static let last: Int64 = 253_402_300_800 * 1_000_000 - 1

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }

  private static func append(_ value: Int64, width: Int, to bytes: inout some ByteSink & ~Copyable) {
    Decimal.append(UInt64(clamping: value), width: width, to: &bytes)
  }
}

extension Timestamp: CustomStringConvertible {
  package var description: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
