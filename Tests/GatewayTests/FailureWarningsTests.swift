import Logging
import NIOCore
import Testing

@testable import Gateway

// An application that is down must not fill the disk with the log: some warnings for each reason, and their number.
@Suite("Warnings about requests that fail")
struct FailureWarningsTests {
  private func at(_ seconds: UInt64) -> NIODeadline { .uptimeNanoseconds((1_000 + seconds) * 1_000_000_000) }

  @Test("Ten a minute are written for one reason, and the next one says how many were left out")
  func limit() {
    let warnings = FailureWarnings()
    for number in 0..<1_000 { #expect(warnings.admit("502 down", at: at(0)) == (number < 10 ? 0 : nil)) }
    #expect(warnings.admit("502 down", at: at(59)) == nil)
    #expect(warnings.admit("502 down", at: at(60)) == 991)
    for _ in 0..<9 { #expect(warnings.admit("502 down", at: at(61)) == 0) }
    #expect(warnings.admit("502 down", at: at(61)) == nil)
  }

  @Test("Many warnings for one reason leave out none for another")
  func reasons() {
    let warnings = FailureWarnings()
    for _ in 0..<1_000 { _ = warnings.admit("502 down", at: at(0)) }
    #expect(warnings.admit("504 slow", at: at(0)) == 0)
  }

  @Test("Reasons without end share one limit, which costs those that are known nothing, until a minute has passed")
  func manyReasons() {
    let warnings = FailureWarnings()
    var written = 0
    for number in 0..<10_000 where warnings.admit("502 \(number)", at: at(0)) != nil { written += 1 }
    #expect(written == FailureWarnings.mostReasons + FailureWarnings.limit)
    #expect(warnings.admit("502 0", at: at(1)) == 0)
    #expect(warnings.admit("504 new", at: at(59)) == nil)
    #expect(warnings.admit("504 new", at: at(60)) == 0)
  }

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
