#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The wall clock for the hot path: milliseconds since 1970, as exact as a tick of the kernel (4 ms at worst), which is
/// read without entering it.
package enum WallClock {
  /// Milliseconds since 1970. They go back when the clock is set back.
  @inline(__always)
  package static func now() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &now)
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}
