import ArgumentParser
import Gateway
import Threads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The resources without which the gateway would start and then fail in ways that name no cause.
///
/// Each function throws an `ExitCode` after it has written the reason to standard error: 78 where a limit has to be
/// raised, 1 where threads are missing, because other processes of the user or container count for that limit and
/// another try may succeed.
enum ResourceFloor {
  // MARK: Every command

  // Called before there is a second thread: libdispatch makes the others.

  /// Open files of any command. `run` needs more.
  private static let descriptors: rlim_t = 32

  /// Threads that libdispatch makes before the first line of a command.
  private static let runtimeThreads = 4

  /// Raises a soft limit of open files under which no command works: libdispatch ends a process that has no descriptor
  /// left for it, by SIGILL and without a message. Throws if the hard limit is as low.
  static func raiseDescriptors() throws {
    var open = limits(RLIMIT_NOFILE)
    guard open.rlim_cur < descriptors else { return }
    guard open.rlim_max >= descriptors else {
      printError(
        "cordon: the limit of open files is \(open.rlim_max), and at least \(descriptors) are needed; raise it "
          + "(LimitNOFILE= of the unit, ulimit -n)")
      throw ExitCode(ExitStatus.configuration)
    }
    open.rlim_cur = descriptors
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    // Its own soft limit may be raised by every process.
    _ = setrlimit(resource, &open)
  }

  /// Requires /proc. libdispatch looks its threads up there, at once and then every second, and ends a process that it
  /// does not find, by SIGILL and without a message. The arguments are read from there as well.
  static func checkKernelFiles() throws {
    guard access("/proc/\(getpid())/stat", R_OK) != 0 else { return }
    printError(
      "cordon: /proc does not show this process, and Swift's runtime needs it; mount it where cordon runs "
        + "(mount -t proc proc /proc, also in a chroot or a container made by hand)")
    throw ExitCode(ExitStatus.configuration)
  }

  /// Requires room for the threads of libdispatch, which otherwise tries to make them again each second, without end.
  static func checkRuntimeThreads() throws {
    try requireThreads(runtimeThreads, orElse: "end other processes of this user")
  }

  // MARK: Commands that contact other programs

  /// Threads of such a command: an event loop, the store's worker, and two for tasks.
  private static let commandThreads = 4

  /// Requires room for the threads of a command, which would wait for one without end.
  static func checkThreads() throws { try requireThreads(commandThreads, orElse: "end other processes of this user") }

  // MARK: The gateway

  /// Bytes of address space. Threads reserve it for their stacks and heaps, far more than they use.
  private static let addressSpace: rlim_t = 1 << 30

  /// Requires address space for the threads of the gateway.
  static func checkAddressSpace() throws {
    let memory = limits(RLIMIT_AS).rlim_cur
    if memory < addressSpace {
      printError(
        "cordon: the limit of address space is \(memory >> 20) MiB, and at least \(addressSpace >> 20) MiB are needed; "
          + "raise it (LimitAS= of the unit, ulimit -v), and limit memory by MemoryMax= or a cgroup instead")
      throw ExitCode(ExitStatus.configuration)
    }
  }

  /// Requires descriptors for the gateway, by the hard limit: the gateway raises its soft one.
  static func checkDescriptors(for settings: GatewaySettings) throws {
    let (open, least) = (limits(RLIMIT_NOFILE).rlim_max, settings.leastDescriptors)
    if open < rlim_t(least) {
      printError(
        "cordon: the limit of open files is \(open), and at least \(least) are needed; raise it (LimitNOFILE= of the "
          + "unit, ulimit -n), or lower listen.workers")
      throw ExitCode(ExitStatus.configuration)
    }
  }

  /// Requires room for the threads of the gateway. Without threads of their own, tasks would stand still, host names
  /// would not be looked up, and event loops would write the log.
  static func checkThreads(for settings: GatewaySettings) throws {
    try requireThreads(settings.leastThreads, orElse: "lower listen.workers")
  }

  // MARK: Limits

  private static func requireThreads(_ least: Int, orElse alternative: String) throws {
    let room = ThreadRoom.measure(upTo: least)
    if room < least {
      printError(
        "cordon: there is room for \(room) more threads, and at least \(least) are needed; raise the limit (TasksMax= "
          + "or LimitNPROC= of the unit, the container's limit of pids, ulimit -u), or \(alternative)")
      throw ExitCode.failure
    }
  }

  #if canImport(Glibc)
    private static func limits(_ resource: __rlimit_resource) -> rlimit {
      limits(__rlimit_resource_t(resource.rawValue))
    }

    private static func limits(_ resource: __rlimit_resource_t) -> rlimit {
      var value = rlimit()
      return getrlimit(resource, &value) == 0 ? value : rlimit(rlim_cur: .max, rlim_max: .max)
    }
  #else
    private static func limits(_ resource: Int32) -> rlimit {
      var value = rlimit()
      return getrlimit(resource, &value) == 0 ? value : rlimit(rlim_cur: .max, rlim_max: .max)
    }
  #endif
}
