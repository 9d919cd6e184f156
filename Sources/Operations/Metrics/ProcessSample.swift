internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The resource usage of the process at one moment.
package struct ProcessSample: Sendable, Equatable {
  /// Resident memory in bytes; nil if unknown.
  package var residentBytes: UInt64?
  /// Processor time of all threads, user and system, in seconds.
  package var cpuSeconds: Double?
  /// Open file descriptors.
  package var openDescriptors: UInt64?
  /// The limit of open file descriptors.
  package var maximumDescriptors: UInt64?

  /// A sample of known values, for tests; ``current()`` takes one. Nil leaves a metric out.
  package init(
    residentBytes: UInt64? = nil, cpuSeconds: Double? = nil, openDescriptors: UInt64? = nil,
    maximumDescriptors: UInt64? = nil
  ) {
    self.residentBytes = residentBytes
    self.cpuSeconds = cpuSeconds
    self.openDescriptors = openDescriptors
    self.maximumDescriptors = maximumDescriptors
  }

  /// This process now, from `/proc/self` and the process's clock. Reads files, so it must not be called on a busy event
  /// loop.
  package static func current() -> ProcessSample {
    ProcessSample(
      residentBytes: residentMemory(), cpuSeconds: processorTime(), openDescriptors: descriptorCount(),
      maximumDescriptors: descriptorLimit())
  }

  /// The second number of `/proc/self/statm`, in pages.
  private static func residentMemory() -> UInt64? {
    let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return nil }
    let numbers = buffer[..<count].split(separator: UInt8(ascii: " "))
    guard numbers.count > 1, let pages = DecimalDigits.parse(numbers[1], limit: 999_999_999_999_999) else { return nil }
    return UInt64(pages) &* UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 1))
  }

  private static func processorTime() -> Double? {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func descriptorCount() -> UInt64? {
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var entries: UInt64 = 0
    while readdir(directory) != nil { entries += 1 }
    // Without ".", ".." and the descriptor of the directory itself.
    return entries >= 3 ? entries - 3 : 0
  }

  private static func descriptorLimit() -> UInt64? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return UInt64(limit.rlim_cur)
  }
}
