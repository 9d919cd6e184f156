import Testing

@testable import DataPlane

@Suite("Retries")
struct RetryStateTests {
  static let unsentFailures: [UpstreamFailure] = [.connect("refused"), .connectTimeout, .handshake("no")]
  static let sentFailures: [UpstreamFailure] = [
    .closedBeforeResponse(reused: false), .closedMidway, .badResponse("x"), .responseTimeout,
  ]

  @Test("A request without a connection is retried at other addresses, three in all", arguments: unsentFailures)
  func unsent(_ failure: UpstreamFailure) {
    var attempts = RetryState()
    attempts.address = 4
    #expect(attempts.avoided(after: failure, of: 5) == 0b10000)
    attempts.address = 1
    #expect(attempts.avoided(after: failure, of: 5) == 0b10010)
    attempts.address = 0
    #expect(attempts.avoided(after: failure, of: 5) == nil)
  }

  @Test("A request is not retried when there is no other address", arguments: unsentFailures)
  func single(_ failure: UpstreamFailure) {
    var attempts = RetryState()
    #expect(attempts.avoided(after: failure, of: 1) == nil)
    var two = RetryState()
    #expect(two.avoided(after: failure, of: 2) == 1)
    two.address = 1
    #expect(two.avoided(after: failure, of: 2) == nil)
  }

  @Test("A request that may have been begun is not sent again", arguments: sentFailures)
  func sent(_ failure: UpstreamFailure) {
    for isRetryable in [true, false] {
      var attempts = RetryState()
      attempts.isRetryable = isRetryable
      #expect(attempts.avoided(after: failure, of: 5) == nil)
    }
  }

  @Test("A request that was not processed is sent again once, unless a part of its body is gone")
  func notProcessed() {
    var attempts = RetryState()
    #expect(attempts.avoided(after: .notProcessed, of: 5) == 0)
    #expect(attempts.avoided(after: .notProcessed, of: 5) == nil)
    var gone = RetryState()
    gone.isRetryable = true
    gone.isReplayable = false
    #expect(gone.avoided(after: .notProcessed, of: 5) == nil)
  }

  @Test("A kept connection that ended is replaced once, and only for a request that can be repeated")
  func stale() {
    var attempts = RetryState()
    #expect(attempts.avoided(after: .closedBeforeResponse(reused: true), of: 5) == nil)
    attempts.isRetryable = true
    #expect(attempts.avoided(after: .closedBeforeResponse(reused: true), of: 5) == 0)
    #expect(attempts.avoided(after: .connect("refused"), of: 5) == 1)
    #expect(attempts.avoided(after: .closedBeforeResponse(reused: true), of: 5) == nil)
  }
}
