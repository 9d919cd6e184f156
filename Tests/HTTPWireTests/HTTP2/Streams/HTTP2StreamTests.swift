import Testing

@testable import HTTPWire

// Cases: the content that is sent, with and without a library that waits for it; the parts of a message that come.

@Suite("The state of an HTTP/2 stream")
struct HTTP2StreamTests {
  @Test("The library is resumed once for content or its end, and only if it had found none")
  func starved() {
    var outgoing = HTTP2Stream.Outgoing.open
    let before = outgoing.proceed(to: .open)
    #expect(!before && outgoing == .open)
    outgoing = .starved
    let resumed = [outgoing.proceed(to: .open), outgoing.proceed(to: .open)]
    #expect(resumed == [true, false])
    outgoing = .starved
    let atEnd = outgoing.proceed(to: .ended)
    #expect(atEnd && outgoing == .ended)
  }

  /// The parts of a message, and whether there is an answer, a head, and an end by then.
  static let parts: [(HTTP2Stream.Incoming, [Bool])] = [
    (.nothing, [false, false, false]), (.headBegun, [true, false, false]),
    (.content(toCome: nil), [true, true, false]),
    (.content(toCome: 0), [true, true, false]), (.ended, [true, true, true]),
  ]

  @Test("A message is an answer from its first frame on, has a head once that is whole, and an end", arguments: parts)
  func incoming(_ part: HTTP2Stream.Incoming, expected: [Bool]) {
    let stream = HTTP2OutboundStream(id: 1)
    stream.incoming = part
    #expect([stream.hasAnswer, stream.hasHead, stream.isEndReceived] == expected)
  }

  @Test("A frame begins an answer of which nothing has come, and takes nothing back of any other")
  func answerBegan() {
    let stream = HTTP2OutboundStream(id: 1)
    stream.answerBegan()
    #expect(stream.incoming == .headBegun)
    for part in [HTTP2Stream.Incoming.headBegun, .content(toCome: 7), .ended] {
      stream.incoming = part
      stream.answerBegan()
      #expect(stream.incoming == part)
    }
  }
}
