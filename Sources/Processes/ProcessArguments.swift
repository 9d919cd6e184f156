#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The command line of this process.
///
/// Swift's static runtime locates it by the address of the environment, which changes if a preloaded library (a tracing
/// agent, libfaketime) has called `setenv`: then the arguments are lost.
package enum ProcessArguments {
  /// The arguments with the program's name, from the kernel if the runtime has lost some.
  package static var all: [String] { complete(CommandLine.arguments, by: kernelText()) }

  /// - Parameters:
  ///   - reported: the arguments from the runtime.
  ///   - text: `/proc/self/cmdline`: each argument with a NUL after it (proc(5)).
  /// - Returns: the arguments of `text` if those reported are its first ones, or none; otherwise the reported ones. (If
  ///   the program was run by an explicit dynamic loader, `text` contains the loader as well.)
  package static func complete(_ reported: [String], by text: [UInt8]) -> [String] {
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
