import Testing

@testable import DataPlane

@Suite("The health of an address by its checks")
struct CheckedHealthTests {
  private func healths(_ checks: String, healthyAfter: Int = 2, unhealthyAfter: Int = 3) -> String {
    var settings = UpstreamCheckSettings(path: "/")
    settings.healthyAfter = healthyAfter
    settings.unhealthyAfter = unhealthyAfter
    var health = CheckedHealth(settings)
    return String(
      checks.map { check in
        health.record(isGood: check == "+")
        return health.isHealthy ? "+" : "-"
      })
  }

  @Test("The health changes after the configured number of checks in a row")
  func turns() {
    #expect(healths("++--+---++-++--") == "+++++++--++++++")
    #expect(healths("-+-+-+") == "++++++")
    #expect(healths("---+-+-++") == "++------+")
    #expect(healths("-+-", healthyAfter: 1, unhealthyAfter: 1) == "-+-")
  }
}
