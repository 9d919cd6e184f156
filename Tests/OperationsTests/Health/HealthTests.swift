import Foundation
import Testing

@testable import Operations

@Suite("Health")
struct HealthTests {
  private func report(
    store: HealthCheck.Status, apple: HealthCheck.Status = .ok, draining: Bool = false
  ) -> HealthReport {
    HealthReport(
      checks: [
        HealthCheck(name: "store", status: store, effect: .gatesReadiness),
        HealthCheck(name: "apple", status: apple),
      ], isDraining: draining)
  }

  @Test("A gateway whose checks are good is live and ready")
  func good() {
    let report = report(store: .ok)
    #expect(report.livez().status == 200 && report.readyz().status == 200 && report.healthz().status == 200)
    #expect(report.summary == .ok)
  }

  @Test("A process is ready while Apple is unreachable, and reports the failure")
  func appleAway() {
    let report = report(store: .ok, apple: .failing)
    #expect(report.readyz().status == 200 && report.healthz().status == 200)
    #expect(report.summary == .degraded)
    #expect(self.report(store: .ok, apple: .unknown).readyz().status == 200)
  }

  @Test(
    "A process is not ready while the store fails or was never reached",
    arguments: [HealthCheck.Status.failing, .unknown])
  func storeAway(status: HealthCheck.Status) {
    let report = report(store: status)
    #expect(report.readyz().status == 503 && report.healthz().status == 503 && report.livez().status == 200)
    #expect(report.summary == .failing)
  }

  @Test("Draining is alive and not ready")
  func draining() {
    let report = report(store: .ok, draining: true)
    #expect(report.livez().status == 200 && report.readyz().status == 503 && report.healthz().status == 503)
    #expect(report.summary == .draining)
  }

  @Test("A process is neither live nor ready while a check that gates liveness fails, also while draining")
  func hanging() {
    for isDraining in [false, true] {
      let report = HealthReport(
        checks: [
          HealthCheck(name: "apple", status: .failing, message: "away"),
          HealthCheck(name: "process", status: .failing, message: "hangs", effect: .gatesLiveness),
        ], isDraining: isDraining)
      #expect(report.livez().status == 503 && report.readyz().status == 503 && report.healthz().status == 503)
      #expect(
        String(decoding: report.livez().body, as: UTF8.self)
          == "{\"status\":\"failing\",\"checks\":[\"process\"],\"message\":\"hangs\"}\n")
    }
    let good = HealthReport(checks: [HealthCheck(name: "process", status: .ok, effect: .gatesLiveness)])
    #expect(good.livez().status == 200 && good.readyz().status == 200)
  }

  @Test("The report is JSON, whatever the messages say")
  func json() throws {
    let report = HealthReport(checks: [
      HealthCheck(
        name: "store", status: .failing, message: "disk \"full\"\n", since: Timestamp(microseconds: 0),
        effect: .gatesReadiness),
      HealthCheck(name: "apple", status: .unknown),
    ])
    let answer = report.healthz()
    #expect(answer.contentType == "application/json")
    let object = try #require(JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    #expect(object["status"] as? String == "failing")
    let checks = try #require(object["checks"] as? [[String: String]])
    #expect(
      checks == [
        ["name": "store", "status": "failing", "message": "disk \"full\"\n", "since": "1970-01-01T00:00:00.000Z"],
        ["name": "apple", "status": "unknown"],
      ])
    #expect(try JSONSerialization.jsonObject(with: Data(HealthReport(checks: []).healthz().body)) is [String: Any])
    #expect(
      String(decoding: report.readyz().body, as: UTF8.self)
        == "{\"status\":\"failing\",\"checks\":[\"store\"],\"message\":\"disk \\\"full\\\"\\n\"}\n")
    #expect(String(decoding: report.livez().body, as: UTF8.self) == "{\"status\":\"ok\"}\n")
    #expect(
      String(decoding: HealthReport(checks: [], isDraining: true).readyz().body, as: UTF8.self)
        == "{\"status\":\"failing\",\"checks\":[],\"message\":\"shutting down\"}\n")
  }

  @Test("The monitor keeps since when a status holds")
  func since() {
    let monitor = HealthMonitor(checks: [HealthCheck(name: "store", status: .unknown, effect: .gatesReadiness)])
    #expect(!monitor.report.isReady)
    monitor.update("store", .ok, at: Timestamp(microseconds: 1))
    monitor.update("store", .ok, at: Timestamp(microseconds: 2))
    #expect(monitor.report.checks[0].since == Timestamp(microseconds: 1))
    #expect(monitor.report.isReady)
    monitor.update("store", .failing, message: "full", at: Timestamp(microseconds: 3))
    #expect(monitor.report.checks[0].since == Timestamp(microseconds: 3))
    #expect(monitor.report.checks[0].message == "full")
    #expect(monitor.report.checks[0].effect == .gatesReadiness)
    monitor.update("certificate", .failing, at: Timestamp(microseconds: 4))
    #expect(monitor.report.checks.map(\.name) == ["store", "certificate"])
    monitor.update("store", .ok, at: Timestamp(microseconds: 5))
    #expect(monitor.report.isReady)
    monitor.update("store", .failing, effect: .informs, at: Timestamp(microseconds: 6))
    #expect(monitor.report.isReady && monitor.report.summary == .degraded)
    monitor.update("store", .failing, effect: .gatesReadiness, at: Timestamp(microseconds: 7))
    #expect(!monitor.report.isReady)
    monitor.update("store", .ok, at: Timestamp(microseconds: 8))
    monitor.beginDraining()
    #expect(!monitor.report.isReady && monitor.report.livez().status == 200)
  }
}
