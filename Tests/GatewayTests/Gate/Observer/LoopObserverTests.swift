import Logging
import Operations
import Testing

@testable import Gateway

@Suite("Log lines of an event loop")
struct LoopObserverTests {
  @Test("Each kind of failure is logged once a minute, malformed responses for each reason, also where two alternate")
  func limits() {
    let lines = RecordedLines()
    let logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["peer", "reason"]) }
    let observer = LoopObserver(
      MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0)), log: LogSettings(), prefix: "/.auth",
      hosts: ["app.example.com"], handshakeLog: HandshakeFailureLog(logger), logger: logger)
    for _ in 0..<3 {
      observer.upstreamMalformed("a bad header", of: "upstream")
      observer.upstreamMalformed("a bad status", of: "upstream")
      observer.connectionRefused(of: "192.0.2.1")
      observer.proxyHeaderMissing(from: "192.0.2.2")
    }
    #expect(
      lines.take() == [
        "malformed upstream response - a bad header", "malformed upstream response - a bad status",
        "too many connections from one address, closing further ones 192.0.2.1 -",
        "closing connection without a valid PROXY header 192.0.2.2 -",
      ])
  }
}
