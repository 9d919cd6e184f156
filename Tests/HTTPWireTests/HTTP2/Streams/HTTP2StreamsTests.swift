import Testing

@testable import HTTPWire

@Suite("The open streams of a session")
struct HTTP2StreamsTests {
  @Test("Each stream is found by its identifier, whichever went before, and no other")
  func search() {
    var streams = HTTP2Streams<HTTP2Stream>()
    var kept: Set<Int32> = []
    var random = SystemRandomNumberGenerator()
    for number in 0..<500 {
      let id = Int32(2 * number + 1)
      streams.insert(HTTP2Stream(id: id))
      kept.insert(id)
      if number % 3 != 0, let gone = kept.randomElement(using: &random) {
        kept.remove(gone)
        #expect(streams.remove(gone)?.id == gone)
        #expect(streams.remove(gone) == nil)
      }
    }
    #expect(streams.count == kept.count)
    for id in Int32(0)...1_002 { #expect(streams[id]?.id == (kept.contains(id) ? id : nil)) }
    #expect(streams.removeAll().map(\.id) == kept.sorted())
    #expect(streams.count == 0 && streams[1] == nil)
  }

  @Test("A stream that is begun again takes the place of the first")
  func again() {
    var streams = HTTP2Streams<HTTP2Stream>()
    for id in [Int32(5), 1, 3] { streams.insert(HTTP2Stream(id: id)) }
    let second = HTTP2Stream(id: 3)
    streams.insert(second)
    #expect(streams[3] === second)
    #expect(streams.all.map(\.id) == [1, 3, 5])
  }
}
