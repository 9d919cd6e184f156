internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The number of processors that this process may use. In a container or under a service manager it may be less than
/// that of the machine.
enum AvailableProcessors {
  /// The smaller of the affinity mask (`taskset`, `CPUAffinity=`, cpusets) and the processor time that its control
  /// groups grant, rounded up; at least 1.
  static var count: Int { count(KernelFiles.text) ?? System.coreCount }

  /// - Parameter text: reads a file by its path; nil if it does not exist.
  /// - Returns: nil if the kernel does not report it.
  static func count(_ text: @escaping (String) -> String?) -> Int? {
    let quota = CPUQuota(text: text).least().map { Int($0.rounded(.up)) }
    guard let allowed = allowed(text) ?? quota else { return nil }
    return max(1, min(allowed, quota ?? allowed))
  }

  /// The mask of sched_getaffinity(2), in words of hexadecimal digits: `Cpus_allowed: ff,ffffffff` (proc(5)).
  private static func allowed(_ text: (String) -> String?) -> Int? {
    let label = "Cpus_allowed:"
    let line = (text("/proc/self/status") ?? "").split(separator: "\n").first { $0.hasPrefix(label) }
    return line?.dropFirst(label.count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
  }
}

/// The processor time that the control groups of a process grant, in processors: the least of its own group and of
/// those above it.
struct CPUQuota {
  /// Reads a file by its path; nil if it does not exist.
  let text: (String) -> String?

  /// The least quota; nil where no group has one.
  func least() -> Double? {
    (text("/proc/self/cgroup") ?? "").split(separator: "\n").flatMap { line -> [Double] in
      // "ID:CONTROLLERS:PATH"; version 2 has "0::PATH" (cgroups(7)).
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return [] }
      if parts[0] == "0", parts[1].isEmpty { return quotas(under: "/sys/fs/cgroup", String(parts[2]), version2) }
      guard parts[1].split(separator: ",").contains("cpu") else { return [] }
      return ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/\(parts[1])"].flatMap {
        quotas(under: $0, String(parts[2]), version1)
      }
    }.min()
  }

  /// The quotas of a group and of those above it. In a container the path may be that of the host, while only the
  /// root of the mount exists.
  private func quotas(under root: String, _ path: String, _ quota: (String) -> Double?) -> [Double] {
    let names = path.split(separator: "/").filter { $0 != ".." }
    return (0...names.count).compactMap { depth in
      quota(([root] + names[..<depth].map(String.init)).joined(separator: "/"))
    }
  }

  /// `cpu.max`: "QUOTA PERIOD" in microseconds, or "max PERIOD".
  private func version2(_ folder: String) -> Double? {
    let words = (text("\(folder)/cpu.max") ?? "").split { $0 == " " || $0 == "\n" }
    guard words.count == 2 else { return nil }
    return share(Int(words[0]), Int(words[1]))
  }

  /// `cpu.cfs_quota_us`, -1 without a limit, and `cpu.cfs_period_us`.
  private func version1(_ folder: String) -> Double? {
    func number(_ name: String) -> Int? { text("\(folder)/\(name)")?.split(separator: "\n").first.flatMap { Int($0) } }
    return share(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
  }

  private func share(_ quota: Int?, _ period: Int?) -> Double? {
    guard let quota, let period, quota > 0, period > 0 else { return nil }
    // Bounded: no machine has more.
    return min(Double(quota) / Double(period), 65_536)
  }
}

/// Virtual files of the kernel, whose size is unknown before they are read.
private enum KernelFiles {
  static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &buffer, buffer.count)
    return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}
