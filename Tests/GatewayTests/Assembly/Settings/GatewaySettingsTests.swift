import AccessPolicy
import Testing

@testable import Gateway

@Suite("Settings of a gateway")
struct GatewaySettingsTests {
  private static let closed = RouteSettings(path: "/closed/", access: .deny)

  @Test("Routes that were compiled when they were checked are not compiled again")
  func compiledOnce() throws {
    var settings = try GatewaySettings.forTests(routes: [Self.closed])
    let table = try RouteTable(routes: settings.routing.routes)
    settings.routing.table = table
    #expect(try GateConfiguration.forTests(settings).routes === table)
  }

  @Test("A change of what routes depend on discards what they were compiled to")
  func discarded() throws {
    let changes: [(inout RoutingSettings) -> Void] = [
      { $0.routes.append(Self.closed) }, { $0.access.requests = true }, { $0.groups = [] }, { $0.sites = [] },
    ]
    for (number, change) in changes.enumerated() {
      var routing = RoutingSettings(
        sites: [], access: AccessSettings(), routes: [], groups: [], table: try RouteTable())
      change(&routing)
      #expect(routing.table == nil, "change \(number)")
    }
  }
}
