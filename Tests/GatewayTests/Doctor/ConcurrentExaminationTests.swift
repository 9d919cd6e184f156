import Synchronization
import Testing

@testable import Gateway

@Suite("Examinations of the doctor")
struct ConcurrentExaminationTests {
  @Test(
    "Examinations run at the same time, and their findings come in the order of what is examined",
    .timeLimit(.minutes(5)))
  func concurrent() async {
    let count = 3
    // Each one ends only after the one behind it has: one after another they would never end.
    let ends = (0...count).map { _ in AsyncStream.makeStream(of: Void.self) }
    ends[count].continuation.finish()
    let findings = await Array(0..<count).examined { number in
      for await _ in ends[number + 1].stream {}
      ends[number].continuation.finish()
      return .ok("upstream", "\(number)")
    }
    #expect(findings.map(\.seen) == ["0", "1", "2"])
  }

  @Test("Of many examinations only some run at the same time, so that descriptors last")
  func bounded() async {
    let running = Mutex((now: 0, most: 0))
    let findings = await Array(0..<40).examined(atOnce: 4) { number in
      running.withLock { running in
        running.now += 1
        running.most = max(running.most, running.now)
      }
      await Task.yield()
      running.withLock { $0.now -= 1 }
      return .ok("upstream", "\(number)")
    }
    #expect(findings.map(\.seen) == (0..<40).map { "\($0)" })
    #expect(running.withLock { $0.most } <= 4)
  }
}
