internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The system has no thread, no descriptor or no memory for an event loop. An operator error.
package struct LoopCreationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// `errno`; nil if the error was none of the system.
  private let code: CInt?
  private let cause: String

  init(_ error: any Error) {
    code = (error as? IOError)?.errnoCode
    cause = code.map { String(cString: strerror($0)) } ?? "\(error)"
  }

  /// The problem, and the remedy.
  package var description: String {
    switch code {
    case EMFILE:
      "no file descriptor is left for an event loop (\(cause)): raise the limit of open files (LimitNOFILE= of the "
        + "unit, ulimit -n)"
    case ENFILE:
      "the system has no file left for an event loop (\(cause)): raise fs.file-max, or see which process holds them "
        + "(/proc/sys/fs/file-nr, lsof)"
    case ENOMEM:
      "there is no memory for an event loop (\(cause)): look at the memory of the machine, and at the limit of the "
        + "unit or container"
    default:
      "no thread can be made for an event loop (\(cause)): raise the limit (TasksMax= or LimitNPROC= of the unit, the "
        + "container's limit of pids, ulimit -u), or end other processes of this user"
    }
  }
}
