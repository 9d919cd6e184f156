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
}
