import RandomTesting
import Testing

@testable import DataPlane

@Suite("Identifiers of requests")
struct RequestIDTests {
  @Test("An identifier is 32 hexadecimal digits of its numbers")
  func identifiers() {
    var random = SeededNumbers(seed: 4)
    for _ in 0..<2_000 {
      let identifier = RequestIDSource.Identifier(
        high: random.next(), low: random.next() >> UInt64.random(in: 0...63, using: &random))
      let expected = [identifier.high, identifier.low].map { number in
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }
      #expect(identifier.description == expected.joined())
    }
  }

  @Test("A source counts on from its own beginning")
  func source() {
    var one = RequestIDSource()
    var other = RequestIDSource()
    let (first, second) = (one.next(), one.next())
    #expect(first.high == second.high && second.low == first.low + 1)
    #expect(other.next().high != first.high)
  }
}
