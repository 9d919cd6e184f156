/// A program that becomes the one after it, having changed what that one has or sees of the machine.
struct ProcessWrapper {
  /// The words before the program and its arguments.
  let command: [String]

  /// At most so many descriptors open at a time (`ulimit -n`).
  static func descriptorLimit(_ count: Int) throws -> ProcessWrapper {
    ProcessWrapper(
      command: [try Machine.program("prlimit", package: "util-linux"), "--nofile=\(count):\(count)"])
  }

  /// On one processor of the machine.
  static func oneProcessor() throws -> ProcessWrapper {
    ProcessWrapper(command: [try Machine.program("taskset", package: "util-linux"), "--cpu-list", "0"])
  }

  /// Without `/proc`, as in a chroot in which nobody has mounted it.
  static func withoutKernelFiles() throws -> ProcessWrapper {
    let script = #"mount -t tmpfs none /proc && exec "$@""#
    return ProcessWrapper(
      command: [try Machine.program("unshare", package: "util-linux"), "--mount", "--", "/bin/sh", "-c", script, "sh"])
  }

  /// This file in the place of `/etc/hosts`, for that process alone. What is written into it later is seen, too.
  static func hosts(_ file: String) throws -> ProcessWrapper {
    let script = #"mount --bind "$0" /etc/hosts && exec "$@""#
    return ProcessWrapper(
      command: [try Machine.program("unshare", package: "util-linux"), "--mount", "--", "/bin/sh", "-c", script, file])
  }
}
