import Testing

@testable import Threads

@Suite("The threads that the process can make")
struct ThreadRoomTests {
  @Test("Threads are made up to the number that is asked for, and again")
  func room() {
    for _ in 0..<100 { #expect(ThreadRoom.measure(upTo: 12) == 12) }
    #expect(ThreadRoom.measure(upTo: 0) == 0)
  }

  @Test("Threads for which the system has no room are not counted")
  func full() {
    // 64 TiB each: no address space has room for twelve.
    #expect(ThreadRoom.measure(upTo: 12, stackSize: 1 << 46) < 12)
  }
}
