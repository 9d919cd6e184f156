#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command line of this process. As in Cordon, with which the simulator shares no code.
///
/// Swift's static runtime finds it by the place of the environment, which is another one after a preloaded library (a
/// tracing agent, libfaketime) has called `setenv`: then there are no arguments, and the command would do as if it had
/// been given none.
enum SimulatorArguments {
  /// With the program's name, as the kernel has them where the runtime has lost some.
  static var all: [String] { complete(CommandLine.arguments, by: kernelText()) }

  /// - Parameters:
  ///   - reported: what the runtime says.
  ///   - text: `/proc/self/cmdline`: each argument with a NUL after it (proc(5)).
  /// - Returns: the arguments of `text` if those reported are its first ones, or none; otherwise what was reported. (A
  ///   dynamic loader that was asked to run the program is in `text` as well.)
  static func complete(_ reported: [String], by text: [UInt8]) -> [String] {
    let whole = text.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
    return whole.count > reported.count && whole.starts(with: reported) ? whole : reported
  }

  private static func kernelText() -> [UInt8] {
    let descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return text }
      text += buffer[..<count]
    }
  }
}
