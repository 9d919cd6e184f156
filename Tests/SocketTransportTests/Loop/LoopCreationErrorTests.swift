import NIOCore
import Testing

@testable import SocketTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Event loops that cannot be made")
struct LoopCreationErrorTests {
  @Test(
    "The error names the missing resource and the remedy",
    arguments: [
      (EMFILE, "eventfd", "no file descriptor is left", "ulimit -n"),
      (ENFILE, "epoll_create1", "the system has no file left", "fs.file-max"),
      (ENOMEM, "epoll_create1", "there is no memory", "the limit of the unit"),
      (EAGAIN, "pthread_create", "no thread can be made", "TasksMax="),
    ] as [(CInt, String, String, String)])
  func text(code: CInt, call: String, problem: String, remedy: String) {
    let text = "\(LoopCreationError(IOError(errnoCode: code, reason: call)))"
    for part in [problem, remedy, String(cString: strerror(code))] { #expect(text.contains(part), "\(text)") }
  }
}
