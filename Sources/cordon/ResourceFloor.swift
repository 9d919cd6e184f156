import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The resources without which the gateway would start and then fail in ways that name no cause.
enum ResourceFloor {
  /// Sockets, the store and the event loops need some thirty; the rest is for clients and the application.
  private static let descriptors: rlim_t = 64
  /// Threads reserve address space for their stacks and heaps, far more than they use.
  private static let addressSpace: rlim_t = 1 << 30

  /// - Throws: `ExitCode` 78, after the reason was written to standard error.
  static func check() throws {
    let open = limit(RLIMIT_NOFILE)
    if open < descriptors {
      complain(
        "cordon: the limit of open files is \(open), and at least \(descriptors) are needed; raise it (LimitNOFILE= of "
          + "the unit, ulimit -n)")
      throw ExitCode(ExitStatus.configuration)
    }
    let memory = limit(RLIMIT_AS)
    if memory < addressSpace {
      complain(
        "cordon: the limit of address space is \(memory >> 20) MiB, and at least \(addressSpace >> 20) MiB are needed; "
          + "raise it (LimitAS= of the unit, ulimit -v), and limit memory by MemoryMax= or a cgroup instead")
      throw ExitCode(ExitStatus.configuration)
    }
  }

  #if canImport(Glibc)
    private static func limit(_ resource: __rlimit_resource) -> rlim_t { limit(__rlimit_resource_t(resource.rawValue)) }

    private static func limit(_ resource: __rlimit_resource_t) -> rlim_t {
      var value = rlimit()
      return getrlimit(resource, &value) == 0 ? value.rlim_cur : .max
    }
  #else
    private static func limit(_ resource: Int32) -> rlim_t {
      var value = rlimit()
      return getrlimit(resource, &value) == 0 ? value.rlim_cur : .max
    }
  #endif
}
