import AppleIdentity
import DataPlane
import FoundationEssentials
import HTTPTypes
import Logging
import Operations
import Sessions
import Testing

@testable import Gateway

@Suite("Notifications that cannot be verified")
struct NotificationEndpointTests {
  /// - Parameter lines: receives the messages, with `reason`.
  private func endpoint(_ rig: GateRig, logging lines: RecordedLines = RecordedLines()) throws -> NotificationEndpoint {
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return NotificationEndpoint(
      verifier: try rig.apple.provider(rig.clock).notifications, sessions: rig.sessions,
      appleMonitor: rig.revalidator.apple,
      relay: NotificationRelay(
        store: rig.store, storeHealth: rig.storeHealth, metrics: rig.metrics, logger: silent),
      denyGroups: [], metrics: rig.metrics, audit: AuditTrail(.silent, keyring: rig.keyring),
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["reason"]) })
  }

  private func request(_ payload: String) -> ControlRequest {
    ControlRequest(
      head: HTTPRequest(
        method: .post, scheme: "https", authority: "app.example.com", path: "/.auth/notifications", headerFields: [:]),
      body: Array(#"{"payload":"\#(payload)"}"#.utf8), client: ClientPeer(address: "192.0.2.1", isTrusted: false),
      requestID: "r")
  }

  private func appleCheck(_ rig: GateRig) -> HealthCheck? { rig.health.report.checks.first { $0.name == "apple" } }

  @Test("A notification that Apple has signed in our future is answered 503, and shows that our clock is behind")
  func fromTheFuture() async throws {
    let rig = try await GateRig()
    let issued = rig.clock.now.addingTimeInterval(300)
    rig.apple.answer(.goodIssued(issued, of: "001.anna"))
    let notifications = try endpoint(rig)
    let response = await notifications.answer(request(rig.apple.identityToken(of: "001.anna", issued: issued)))
    #expect(response.head.status == .serviceUnavailable)
    #expect(rig.metrics.notifications.total("unverified", "clock_behind") == 1)
    let check = appleCheck(rig)
    #expect(check?.status == .failing && check?.message?.contains("clock is behind") == true)
    try await rig.stop()
  }

  @Test("A notification in our future that Apple has not signed is answered 400, and says nothing about the clock")
  func forged() async throws {
    let rig = try await GateRig()
    let issued = rig.clock.now.addingTimeInterval(300)
    rig.apple.answer(.goodIssued(issued, of: "001.anna"))
    let token = FakeApple().identityToken(of: "001.anna", issued: issued)
    let notifications = try endpoint(rig)
    let response = await notifications.answer(request(token))
    #expect(response.head.status == .badRequest)
    #expect(rig.metrics.notifications.total("unverified", "refused") == 1 && appleCheck(rig)?.status != .failing)
    try await rig.stop()
  }

  @Test("Forged notifications do not hide from the log why one that Apple has signed is rejected")
  func reasons() async throws {
    let rig = try await GateRig()
    rig.apple.answer(.goodIssued(rig.clock.now, of: "001.anna"))
    let lines = RecordedLines()
    let notifications = try endpoint(rig, logging: lines)
    let forged = FakeApple().identityToken(of: "001.anna", issued: rig.clock.now)
    for _ in 0..<3 { _ = await notifications.answer(request(forged)) }
    #expect(!lines.take().isEmpty)
    _ = await notifications.answer(request(forged))
    #expect(lines.take().isEmpty)
    // An identity token, which is no notification.
    let signed = rig.apple.identityToken(of: "001.anna", issued: rig.clock.now)
    #expect(await notifications.answer(request(signed)).head.status == .badRequest)
    let logged = lines.take()
    #expect(logged.count == 1 && logged.first?.contains("has no claim") == true, "\(logged)")
    try await rig.stop()
  }
}
