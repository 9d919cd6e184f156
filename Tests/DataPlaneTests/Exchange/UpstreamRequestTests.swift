import NIOCore
import Testing

@testable import DataPlane

@Suite("The upstream's part of an exchange")
struct UpstreamRequestTests {
  private let rules = ForwardingRules(reservedNames: [], sessionCookieName: "c", scheme: "https")

  @Test("Content that waited is sent in one chunk, with the end of the body if that has come")
  func chunks() throws {
    let bench = try ExchangeBench(.http11)
    var request = UpstreamRequest()
    request.isChunked = true
    request.keep(ByteBuffer(string: "abc"))
    request.keep(ByteBuffer(string: "de"))
    var whole = request
    #expect(
      request.takeFirstContent(isComplete: false, rules: rules, bench.loop) == ByteBuffer(string: "5\r\nabcde\r\n"))
    #expect(
      whole.takeFirstContent(isComplete: true, rules: rules, bench.loop)
        == ByteBuffer(string: "5\r\nabcde\r\n0\r\n\r\n"))
    #expect(request.takeFirstContent(isComplete: true, rules: rules, bench.loop) == ByteBuffer(string: "0\r\n\r\n"))
    #expect(!request.hasContentWaiting)
  }

  @Test("Content is kept for an HTTP/2 upstream that may not process it, up to 64 KiB, and is sent as it was")
  func replay() throws {
    let bench = try ExchangeBench(.http11, speaks: .http2)
    for (count, avoided) in [(65_536, UInt64(0)), (65_537, nil)] {
      var request = UpstreamRequest()
      request.balancer = bench.balancer
      request.keep(ByteBuffer(repeating: 1, count: count))
      #expect(request.takeFirstContent(isComplete: true, rules: rules, bench.loop)?.readableBytes == count)
      #expect(request.prepareRetry(after: .notProcessed) == avoided)
      #expect(request.hasContentWaiting == (avoided != nil))
      if avoided != nil { #expect(request.takeWaiting()?.readableBytes == count) }
    }
    var request = UpstreamRequest()
    request.balancer = bench.balancer
    request.keep(ByteBuffer(string: "abc"))
    _ = request.takeFirstContent(isComplete: false, rules: rules, bench.loop)
    request.loseReplay()
    #expect(request.prepareRetry(after: .notProcessed) == nil)
  }

  @Test("Time in which the body was not read does not count against its rate")
  func pace() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    let grace = TimeAmount.seconds(10)
    var pace = BodyPace(rate: 100, began: start)
    #expect(!pace.isTooSlow(received: 0, at: start + .seconds(10), grace: grace))
    #expect(pace.isTooSlow(received: 0, at: start + .seconds(11), grace: grace))
    #expect(!pace.isTooSlow(received: 100, at: start + .seconds(11), grace: grace))
    pace.hold(true, at: start + .seconds(5))
    // A second sign of the same pause does not begin it again.
    pace.hold(true, at: start + .seconds(50))
    #expect(!pace.isTooSlow(received: 0, at: start + .seconds(60), grace: grace))
    pace.hold(false, at: start + .seconds(65))
    #expect(pace.held == .seconds(60) && pace.heldSince == nil)
    #expect(!pace.isTooSlow(received: 0, at: start + .seconds(70), grace: grace))
    #expect(pace.isTooSlow(received: 99, at: start + .seconds(71), grace: grace))
    #expect(!BodyPace(rate: 0, began: start).isTooSlow(received: 0, at: start + .hours(1), grace: grace))
  }
}
