import Testing

@testable import AccessPolicy

@Suite("Sorted byte strings")
struct SortedByteStringsTests {
  /// Each a beginning of another, empty, with bytes that are negative as signed numbers, and in no order.
  private let texts: [[UInt8]] = [[2], [], [1, 2], [1], [0xFF], [0x7F], [1, 2, 3], [0x80, 0], [0], [0x80]]

  @Test("Each string is found at its place in the order of bytes, and no other is")
  func found() {
    let strings = SortedByteStrings(texts)
    for (index, text) in texts.sorted(by: { $0.lexicographicallyPrecedes($1) }).enumerated() {
      #expect(strings.index(of: text) == index)
    }
    for other in [[1, 2, 4], [1, 2, 3, 0], [3], [0, 0], [0xFF, 0xFF], [0x80, 1]] as [[UInt8]] {
      #expect(!strings.contains(other))
    }
  }

  @Test("A string that is given several times is there once, and each of them has its index")
  func repeated() {
    var indexes: [Int: Int] = [:]
    let strings = SortedByteStrings((texts + texts).map { $0.lazy.map { $0 } }) { indexes[$0] = $1 }
    #expect(strings.count == texts.count)
    for (number, text) in (texts + texts).enumerated() { #expect(indexes[number] == strings.index(of: text)) }
  }

  @Test("Two are equal if they have the same strings, in whatever order and however often they were given")
  func equality() {
    #expect(SortedByteStrings(texts) == SortedByteStrings(texts.reversed() + texts))
    #expect(SortedByteStrings(texts) != SortedByteStrings(texts.dropLast()))
    // The same bytes, cut in other places.
    #expect(SortedByteStrings([[1], [2, 3]]) != SortedByteStrings([[1, 2], [3]]))
  }

  @Test("Nothing is found among no strings")
  func empty() {
    let strings = SortedByteStrings([[UInt8]]())
    #expect(strings.isEmpty && !strings.contains([]) && !strings.contains([1]))
  }
}
