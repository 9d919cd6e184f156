import DataPlane
import Logging
import Operations
import Testing

@testable import Gateway

// A port scanner must neither fill the log nor hide that clients refuse the certificate.
@Suite("Log lines about failed TLS handshakes")
struct HandshakeFailureLogTests {
  private let lines = RecordedLines()

  private static let failures: [HandshakeFailure] = [
    .plainHTTP, .notTLS, .unsupportedVersion, .noSharedParameters("no shared cipher"), .clientCertificateMissing,
    .clientCertificateRefused("the certificate has expired"), .certificateRejected(alert: "unknown_ca"),
    .refusedByClient, .closed, .timedOut, .protocolViolation, .libraryFailure,
  ]

  private func makeLog(_ level: Logger.Level) -> HandshakeFailureLog {
    HandshakeFailureLog(
      Logger(label: "test") { [lines] _ in
        var handler = RecordingLogHandler(lines, ["peer", "reason"])
        handler.logLevel = level
        return handler
      })
  }

  private func at(_ seconds: Int) -> Duration { .seconds(1_000 + seconds) }

  @Test("Each reason is logged once a minute, however many handshakes fail for another")
  func interval() {
    let log = makeLog(.info)
    for _ in 0..<100 {
      log.write(.plainHTTP, of: "192.0.2.1", at: at(0))
      log.write(.certificateRejected(alert: "unknown_ca"), of: "192.0.2.2", at: at(0))
    }
    #expect(
      lines.take() == [
        "plain HTTP on a TLS port 192.0.2.1 -",
        "a client does not accept the certificate of the listener 192.0.2.2 unknown_ca",
      ])
    log.write(.plainHTTP, of: "192.0.2.3", at: at(59))
    #expect(lines.take() == [])
    log.write(.plainHTTP, of: "192.0.2.3", at: at(60))
    #expect(lines.take() == ["plain HTTP on a TLS port 192.0.2.3 -"])
  }

  @Test("Refused certificates are warnings; what port scanners cause is information, or not logged")
  func levels() {
    let expected: [(level: Logger.Level, count: Int)] = [(.warning, 2), (.info, 6), (.trace, 6)]
    for (level, count) in expected {
      let log = makeLog(level)
      for failure in Self.failures { log.write(failure, of: "192.0.2.1") }
      #expect(lines.take().count == count, "\(level)")
    }
  }

  @Test("Each failure is counted under a reason of its own")
  func reasons() {
    let counted = Set(Self.failures.map(\.counted))
    #expect(counted.count == Self.failures.count)
    #expect(Set(HandshakeFailureReason.allCases).subtracting(counted) == [.proxyHeader])
  }
}
