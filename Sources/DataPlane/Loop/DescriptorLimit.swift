#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The limit of open descriptors of this process (RLIMIT_NOFILE).
enum DescriptorLimit {
  /// More than this is never asked for: the kernel's own usual ceiling (`fs.nr_open`).
  private static let ceiling: rlim_t = 1_048_576

  /// Raises the soft limit to the hard one, as servers that do not use `select` may, and answers what holds then.
  static func raised() -> Int {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return 1_024 }
    let wanted = min(limit.rlim_max, ceiling)
    if limit.rlim_cur < wanted {
      var raised = limit
      raised.rlim_cur = wanted
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(min(limit.rlim_cur, ceiling))
  }

  /// The number of open descriptors; nil where the system does not report it.
  static func inUse() -> Int? {
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var entries = 0
    while readdir(directory) != nil { entries += 1 }
    // Not ours: ".", ".." and the descriptor of the directory itself.
    return max(0, entries - 3)
  }
}
