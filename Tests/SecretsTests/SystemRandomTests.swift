import Secrets
import Testing

@Suite("Random bytes")
struct SystemRandomTests {
  @Test("Random bytes are as many as asked for, and others each time", arguments: [0, 1, 8, 12, 16, 33])
  func lengths(count: Int) {
    let (first, second) = (SystemRandom.bytes(count), SystemRandom.bytes(count))
    #expect(first.count == count && second.count == count)
    if count >= 12 { #expect(first != second) }
  }
}
