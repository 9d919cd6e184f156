import Logging
import Testing

@testable import Gateway

// An application that is down must not fill the disk with the log: some warnings for each reason, and their number.
@Suite("Warnings about requests that fail")
struct FailureWarningsTests {
  @Test("The log has ten warnings of the requests that an application fails alike, after a reload as well")
  func log() async throws {
    let lines = RecordedLines()
    let rig = try await GateRig(
      logger: Logger(label: "test") { _ in
        var handler = RecordingLogHandler(lines, ["status", "reason"])
        handler.logLevel = .info
        return handler
      })
    for loop in 0..<2 {
      for _ in 0..<20 { #expect(try await rig.failure(status: 502, reason: "down", loop: loop) == 502) }
    }
    try await rig.apply(rig.settings)
    #expect(try await rig.failure(status: 502, reason: "down") == 502)
    #expect(try await rig.failure(status: 503, reason: "full") == 503)
    #expect(try await rig.failure(status: 400, reason: "malformed") == 400)
    let failed = lines.take().filter { $0.hasPrefix("request failed") }
    #expect(failed == Array(repeating: "request failed 502 down", count: 10) + ["request failed 503 full"])
    try await rig.stop()
  }
}
