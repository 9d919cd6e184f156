import Testing

@testable import HTTPWire

@Suite("The streams that a client of HTTP/2 has begun")
struct BegunStreamsTests {
  @Test("A stream begins with an identifier above all before it, and no other")
  func order() {
    var streams = BegunStreams()
    let begun = [1, 5, 5, 3, 7].map { streams.begin($0, isWhole: true) }
    #expect(begun == [true, true, false, false, true])
  }

  @Test("A section may come on a stream that was not ended, until one of them ends it")
  func sections() {
    var streams = BegunStreams()
    let begun = [streams.begin(1, isWhole: false), streams.begin(3, isWhole: true)]
    #expect(begun == [true, true])
    let allowed = [false, false, true, false].map { streams.allowsSection(of: 1, isLast: $0) }
    #expect(allowed == [true, true, true, false])
    let whole = [false, true].map { streams.allowsSection(of: 3, isLast: $0) }
    #expect(whole == [false, false], "it was ended by its head")
    let skipped = streams.allowsSection(of: 2, isLast: false)
    #expect(!skipped)
  }

  @Test("A stream is ended once, after which nothing may come on it")
  func end() {
    var streams = BegunStreams()
    let begun = streams.begin(1, isWhole: false)
    let ended = [streams.end(1), streams.end(1)]
    let allowed = streams.allowsSection(of: 1, isLast: false)
    #expect(begun && ended == [true, false] && !allowed)
  }

  @Test("Of very many streams that were not ended the oldest is forgotten")
  func limit() {
    var streams = BegunStreams()
    for number in 0...Int32(BegunStreams.limit) {
      let isBegun = streams.begin(2 * number + 1, isWhole: false)
      #expect(isBegun)
    }
    let allowed = [1, 3].map { streams.allowsSection(of: $0, isLast: false) }
    #expect(allowed == [false, true])
  }
}
