import AppleIdentity
import FoundationEssentials
import Logging
import Testing

@testable import Gateway

// The lines about revalidations, while each account fails.
@Suite("The log of revalidations")
struct RevalidationLogTests {
  private let lines = RecordedLines()
  private let clock = TestClock()
  private let log: RevalidationLog

  init() {
    let (clock, lines) = (clock, lines)
    log = RevalidationLog(
      Logger(label: "test") { _ in RecordingLogHandler(lines, ["reason", "suppressed"]) }, clock: { clock.now })
  }

  private func note(_ answer: RefreshOutcome, times: Int) {
    for _ in 0..<times { log.note(answer, clientID: "web") }
  }

  @Test("Accounts that fail for one reason are logged three times a minute, with the number of those left out")
  func fewLines() {
    let failed = "token revalidation failed: error response from Apple Apple answered 503"
    note(.appleTrouble(.status(503)), times: 100)
    #expect(lines.take() == Array(repeating: "\(failed) -", count: 3))
    clock.advance(60)
    note(.appleTrouble(.status(503)), times: 2)
    #expect(lines.take() == ["\(failed) 97", "\(failed) -"])
  }

  @Test("A failure for another reason is logged, however many there are for the first")
  func otherReasons() {
    note(.appleTrouble(.status(503)), times: 10)
    _ = lines.take()
    note(.appleTrouble(.status(502)), times: 1)
    note(.notSent(reason: "refused"), times: 10)
    #expect(
      lines.take() == ["token revalidation failed: error response from Apple Apple answered 502 -"]
        + Array(repeating: "token revalidation failed: Apple is unreachable refused -", count: 3))
  }

  @Test("Answers of 429 share one limit, whatever pause they ask for")
  func throttled() {
    for seconds in 1...50 { note(.appleTrouble(.throttled(pause: .seconds(seconds))), times: 1) }
    #expect(lines.take().count == 3)
  }

  @Test("After a reload the next failure is logged")
  func reload() {
    note(.notSent(reason: "refused"), times: 10)
    _ = lines.take()
    log.reset()
    note(.notSent(reason: "refused"), times: 1)
    #expect(lines.take().count == 1)
  }
}
