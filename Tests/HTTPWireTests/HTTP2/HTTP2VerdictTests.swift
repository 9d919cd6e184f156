import Testing

@testable import HTTPWire

@Suite("The error that ends an HTTP/2 connection")
struct HTTP2VerdictTests {
  @Test("The first error counts, whatever follows it")
  func first() {
    var verdict = HTTP2Verdict.none
    #expect(verdict.code == nil)
    verdict.fail(.enhanceYourCalm)
    verdict.fail(.protocolError)
    #expect(verdict.code == .enhanceYourCalm && !verdict.isAnnounced)
  }

  @Test("An error is announced once, and there is nothing to announce without one")
  func once() {
    var verdict = HTTP2Verdict.none
    let without = verdict.announce()
    #expect(without == nil && !verdict.isAnnounced)
    verdict.fail(.internalError)
    let announced = [verdict.announce(), verdict.announce()]
    #expect(announced == [.internalError, nil] && verdict.isAnnounced)
    verdict.fail(.protocolError)
    let later = verdict.announce()
    #expect(later == nil && verdict.code == .internalError)
  }
}
