import Testing

@testable import HTTPWire

@Suite("The error that ends an HTTP/2 connection")
struct HTTP2TerminationTests {
  @Test("The first error counts, whatever follows it")
  func first() {
    var termination = HTTP2Termination.none
    #expect(termination.code == nil)
    termination.demand(.enhanceYourCalm)
    termination.demand(.protocolError)
    #expect(termination.code == .enhanceYourCalm && !termination.isAnnounced)
  }

  @Test("An error is announced once, and there is nothing to announce without one")
  func once() {
    var termination = HTTP2Termination.none
    let without = termination.announce()
    #expect(without == nil && !termination.isAnnounced)
    termination.demand(.internalError)
    let announced = [termination.announce(), termination.announce()]
    #expect(announced == [.internalError, nil] && termination.isAnnounced)
    termination.demand(.protocolError)
    let later = termination.announce()
    #expect(later == nil && termination.code == .internalError)
  }
}
