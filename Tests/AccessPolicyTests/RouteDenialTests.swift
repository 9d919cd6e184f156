import Testing

@testable import AccessPolicy

// Deny lists of routes: on public routes below them, and compiled once for all routes.
@Suite("Deny lists of routes")
struct RouteDenialTests {
  private func decide(_ path: String, _ table: RouteTable) -> RouteDecision {
    let bytes = Array(path.utf8)
    return table.match(bytes.span, .classify(bytes.span), method: Array("GET".utf8).span)
  }

  private func denied(_ subjects: String...) -> AccessConditions {
    var conditions = AccessConditions()
    conditions.denied.subjects = subjects
    return conditions
  }

  @Test("A public route names those whom the routes above it deny, and no other route does")
  func publicRoutes() throws {
    var app = RouteSettings(path: "/app/")
    app.conditions = denied("villain")
    app.conditions.requirements = [ClaimRequirement(claim: "org_id", values: ["1"])]
    var access = AccessSettings()
    access.conditions = denied("banned")
    let table = try RouteTable(
      access: access,
      routes: [app, RouteSettings(path: "/app/open/", access: .public), RouteSettings(path: "/free/", access: .public)])
    func isNobody(_ user: String, _ path: String) -> Bool {
      let decision = decide(path, table)
      return (0..<decision.denials.count).contains {
        table.rules[decision.denials[$0]].evaluate(Principal(subject: user)) != .allowed
      }
    }
    #expect(decide("/app/open/x", table).access == .public)
    #expect(isNobody("villain", "/app/open/x") && !isNobody("somebody", "/app/open/x"))
    #expect(!isNobody("banned", "/app/open/x") && table.isDenied(Principal(subject: "banned")))
    #expect(decide("/free/x", table).denials.isEmpty && decide("/app/x", table).denials.isEmpty)
  }

  @Test("A path that could also be another's, where users sign in, refuses whom the public reading makes nobody")
  func ambiguousPaths() throws {
    var open = RouteSettings(path: "/public/", access: .public)
    open.conditions = denied("villain")
    let table = try RouteTable(routes: [open])
    #expect(table.hasRestrictions)
    for path in ["/public/a%2Fb", "/public//x", "/PUBLIC/x"] {
      let decision = decide(path, table)
      guard case .rules(let rules) = decision.access, decision.denials.isEmpty else {
        Issue.record("\(path): \(decision)")
        continue
      }
      func isAdmitted(_ user: String) -> Bool {
        (0..<rules.count).allSatisfy { table.rules[rules[$0]].evaluate(Principal(subject: user)) == .allowed }
      }
      #expect(isAdmitted("somebody") && !isAdmitted("villain"), "\(path)")
    }
  }

  @Test("A deny list of [access] is compiled once, however many routes have conditions of their own")
  func compiledOnce() throws {
    var access = AccessSettings()
    access.conditions.denied.subjects = (0..<100).map { "user\($0)" }
    let routes = (0..<50).map { number in
      var route = RouteSettings(path: "/r\(number)/")
      route.conditions.requirements = [ClaimRequirement(claim: "org_id", values: ["\(number)"])]
      return route
    }
    let groups = GroupNumbers([])
    let checked = CheckedRoutes(access, routes, groups)
    var compiler = DecisionCompiler(groups)
    var problems = checked.problems
    _ = RouteTreeBuilder(checked, host: nil).parts(&compiler, &problems)
    #expect(compiler.rules.count == 51 && compiler.denials.count == 1)
    for rule in compiler.rules { #expect(rule.evaluate(Principal(subject: "user7")) == .denied(.denyListed)) }
  }
}
