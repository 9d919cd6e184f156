import Glibc

/// The clock of the system.
enum SystemClock {
  /// The time in seconds since 1970.
  static func now() -> Int64 { Int64(time(nil)) }
}
