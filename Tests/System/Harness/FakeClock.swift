import Foundation
import TemporaryDirectoryTesting

/// The wall clock that a process of the tests sees: days pass when the test says so. The monotonic clock, by which
/// time-outs run, stays true.
///
/// A few lines of C are between the process and its C library (`LD_PRELOAD`); they add the number in a mapped file to
/// the time.
struct FakeClock: Sendable {
  private let directory: TemporaryDirectory
  private let offset: FileHandle

  /// The wrapper that runs a process under this clock.
  let environment: [String: String]

  init() throws {
    directory = try TemporaryDirectory()
    let file = try directory.write(String(repeating: "\0", count: 8), to: "offset")
    guard let offset = FileHandle(forUpdatingAtPath: file) else { throw HarnessError.missing(file) }
    self.offset = offset
    environment = ["LD_PRELOAD": try Self.library.get().path, "CORDON_TEST_CLOCK": file]
  }

  /// Moves the clock to `seconds` after the true time.
  func set(secondsAhead seconds: Int) throws {
    var seconds = Int64(seconds)
    try offset.seek(toOffset: 0)
    try offset.write(contentsOf: withUnsafeBytes(of: &seconds) { Data($0) })
  }

  private static let library = Result { try PreloadedLibrary(source) }

  private static let source = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>

    static volatile int64_t *offset;
    static int (*real_clock_gettime)(clockid_t, struct timespec *);

    __attribute__((constructor)) static void prepare(void) {
      real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
      const char *path = getenv("CORDON_TEST_CLOCK");
      int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
      if (file < 0) return;
      void *page = mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
      close(file);
      if (page != MAP_FAILED) offset = page;
    }

    int clock_gettime(clockid_t clock, struct timespec *now) {
      if (!real_clock_gettime) prepare();
      int result = real_clock_gettime(clock, now);
      if (result == 0 && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
      return result;
    }

    int gettimeofday(struct timeval *now, void *zone) {
      struct timespec time;
      int result = clock_gettime(CLOCK_REALTIME, &time);
      if (now) { now->tv_sec = time.tv_sec; now->tv_usec = time.tv_nsec / 1000; }
      return result;
    }

    time_t time(time_t *now) {
      struct timespec time;
      clock_gettime(CLOCK_REALTIME, &time);
      if (now) *now = time.tv_sec;
      return time.tv_sec;
    }
    """#
}
