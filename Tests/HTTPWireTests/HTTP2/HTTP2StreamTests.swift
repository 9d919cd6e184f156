import Testing

@testable import HTTPWire

// Cases: the content that is sent, with and without a library that waits for it.

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
}
