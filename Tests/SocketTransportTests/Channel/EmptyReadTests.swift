import Glibc
import Testing

@testable import SocketTransport

@Suite("Reads that bring no bytes")
struct EmptyReadTests {
  @Test("A read of zero bytes is the end of the input, whatever error was met before", arguments: [0, EAGAIN, EPIPE])
  func end(earlier: CInt) { #expect(EmptyRead(count: 0, errno: earlier) == .end) }

  @Test("A read that would block says that nothing is left, and any other error is a failure")
  func errors() {
    #expect(EmptyRead(count: -1, errno: EAGAIN) == .drained)
    #expect(EmptyRead(count: -1, errno: EWOULDBLOCK) == .drained)
    #expect(EmptyRead(count: -1, errno: ECONNRESET) == .failed(ECONNRESET))
  }
}
