import Testing
import WebFormats

@testable import AccessPolicy

// Groups, deny lists and machine tokens as rules judge them.
@Suite("Groups and deny lists")
struct GroupRulesTests {
  private let directory = GroupDirectory([
    GroupSettings(name: "staff", members: ["boss", "Ada@Example.com", "@example.org"]),
    GroupSettings(name: "banned", members: ["mallory@example.net"]), GroupSettings(name: "machines"),
  ])

  private func user(_ subject: String, email: String? = nil, verified: Bool = true, stored: [String] = []) -> Principal
  {
    var user = Principal(subject: subject, email: email, isEmailVerified: verified)
    user.membership = directory.membership(of: user, stored: stored)
    return user
  }

  private func rules(
    _ lists: (inout AccessLists) -> Void = { _ in }, denied: (inout DenyLists) -> Void = { _ in }
  ) -> AccessRules {
    var allowed = AccessLists()
    lists(&allowed)
    var conditions = AccessConditions()
    denied(&conditions.denied)
    return AccessRules(
      lists: allowed.isEmpty ? nil : allowed, conditions: [conditions], groups: directory.names.reversed())
  }

  @Test("A member of several lists is in each of their groups, and counts once in a group that lists it twice")
  func listedSeveralTimes() {
    let directory = GroupDirectory([
      GroupSettings(name: "b", members: ["ada@example.com", "001.ada", "ADA@example.com", "@example.com", "eve"]),
      GroupSettings(name: "a", members: ["eve", "ada@example.com", "eve"]),
      GroupSettings(name: "c", members: ["@EXAMPLE.com", "ben@example.com"]),
    ])
    #expect(directory.configuredCounts() == [2, 4, 2])
    let groups = { (user: Principal) in directory.names(of: directory.membership(of: user).groups) }
    #expect(groups(Principal(subject: "x", email: "Ada@example.com", isEmailVerified: true)) == ["a", "b", "c"])
    #expect(groups(Principal(subject: "x", email: "cyd@example.com", isEmailVerified: true)) == ["b", "c"])
    #expect(groups(Principal(subject: "001.ada")) == ["b"])
    #expect(groups(Principal(subject: "eve")) == ["a", "b"])
    #expect(groups(Principal(subject: "ev")).isEmpty && groups(Principal(subject: "eve2")).isEmpty)
  }

  @Test("A group admits its subjects, verified addresses, verified addresses of its domains, and stored members")
  func groups() {
    let staff = rules { $0.groups = ["staff"] }
    #expect(staff.evaluate(user("boss")) == .allowed)
    #expect(staff.evaluate(user("x", email: "ada@example.COM")) == .allowed)
    #expect(staff.evaluate(user("x", email: "any@example.org")) == .allowed)
    #expect(staff.evaluate(user("x", email: "any@sub.example.org")) == .denied(.notListed))
    #expect(staff.evaluate(user("x", email: "ada@example.com", verified: false)) == .denied(.notListed))
    #expect(staff.evaluate(user("x", stored: ["staff"])) == .allowed)
    #expect(staff.evaluate(user("x", stored: ["machines", "gone"])) == .denied(.notListed))
  }

  @Test("The subject that a user had with another team is refused by deny lists, and admitted by no list")
  func formerSubject() {
    var moved = Principal(subject: "new", formerSubject: "boss")
    moved.membership = directory.membership(of: moved)
    #expect(rules(denied: { $0.subjects = ["boss"] }).evaluate(moved) == .denied(.denyListed))
    #expect(rules(denied: { $0.groups = ["staff"] }).evaluate(moved) == .denied(.denyListed))
    #expect(rules(denied: { $0.subjects = ["bos"] }).evaluate(moved) == .allowed)
    #expect(rules { $0.subjects = ["boss"] }.evaluate(moved) == .denied(.notListed))
    #expect(rules { $0.groups = ["staff"] }.evaluate(moved) == .denied(.notListed))
    #expect(directory.names(of: moved.membership.groups).isEmpty)
  }

  @Test("Deny lists win over every allow list, and match addresses that are not verified")
  func denied() {
    let all = rules(denied: { $0.groups = ["banned"] })
    #expect(all.evaluate(user("x")) == .allowed)
    #expect(all.evaluate(user("x", email: "mallory@EXAMPLE.net", verified: false)) == .denied(.denyListed))
    let named = rules({ $0.subjects = ["a"] }, denied: { $0.subjects = ["a"] })
    #expect(named.evaluate(user("a")) == .denied(.denyListed))
    let address = rules(denied: { $0.emails = ["Eve@example.com"] })
    #expect(address.evaluate(user("x", email: "eve@example.com", verified: false)) == .denied(.denyListed))
    #expect(address.evaluate(user("x", email: "eve@example.com.")) == .allowed)
    #expect(address.evaluate(user("x", email: "\u{435}ve@example.com")) == .allowed, "a look-alike is another address")
  }

  @Test("A token is admitted by allow_groups only, and refused by every condition that it cannot meet")
  func tokens() throws {
    let machines = try #require(directory.number(of: "machines"))
    #expect(rules { $0.groups = ["machines"] }.evaluateToken(in: machines) == .allowed)
    #expect(rules().evaluateToken(in: machines) == .denied(.notListed), "never as signed-in")
    #expect(rules { $0.subjects = ["token:backup"] }.evaluateToken(in: machines) == .denied(.notListed))
    #expect(rules { $0.groups = ["staff"] }.evaluateToken(in: machines) == .denied(.notListed))
    let denied = rules({ $0.groups = ["machines"] }, denied: { $0.groups = ["machines"] })
    #expect(denied.evaluateToken(in: machines) == .denied(.denyListed))
    var lists = AccessLists()
    lists.groups = ["machines"]
    var conditions = AccessConditions()
    conditions.privateEmail = .deny
    func decision() -> AccessDecision {
      AccessRules(lists: lists, conditions: [conditions], groups: directory.names).evaluateToken(in: machines)
    }
    #expect(decision() == .allowed)
    conditions.privateEmail = .require
    #expect(decision() == .denied(.emailShown))
    conditions.privateEmail = .allow
    conditions.requirements = [ClaimRequirement(claim: "org_id", values: ["1"])]
    #expect(decision() == .denied(.claimNotMet))
  }

  @Test("A route table numbers groups as the directory does, whatever their order")
  func numbers() throws {
    var lists = AccessLists()
    lists.groups = ["staff"]
    let table = try RouteTable(
      routes: [RouteSettings(path: "/", access: .lists(lists))], groups: ["staff", "machines", "banned"])
    let staff = try #require(directory.number(of: "staff"))
    let machines = try #require(directory.number(of: "machines"))
    #expect(table.evaluateToken(in: staff, by: .rules([0])) == .allowed)
    #expect(table.evaluateToken(in: machines, by: .rules([0])) == .denied(.notListed))
    #expect(table.evaluateToken(in: staff, by: .signedIn) == .denied(.notListed))
    #expect(table.evaluateToken(in: staff, by: .public) == .denied(.notListed))
  }

  @Test("An unknown group is a problem with the nearest name")
  func unknown() {
    func problems(_ edit: (inout AccessSettings, inout RouteSettings) -> Void) -> [RouteDiagnostic] {
      var access = AccessSettings()
      var route = RouteSettings(path: "/a/")
      edit(&access, &route)
      do {
        _ = try RouteTable(access: access, routes: [route], groups: ["staff", "machines"])
        return []
      } catch {
        return error.problems
      }
    }
    var lists = AccessLists()
    lists.groups = ["staf"]
    let allowed = problems { $1.access = .lists(lists) }
    #expect(allowed.map(\.key) == ["allow_groups"])
    #expect(allowed.first?.problem.hasSuffix("there is no group \"staf\"") == true)
    #expect(allowed.first?.remedy == "did you mean \"staff\"?")
    #expect(problems { access, _ in access.lists = lists }.map(\.key) == ["allow_groups"])
    #expect(problems { access, _ in access.managers = ["boss"] }.map(\.key) == ["managers"])
    #expect(problems { access, _ in access.conditions.denied.groups = ["x"] }.map(\.key) == ["deny_groups"])
    #expect(problems { $1.conditions.denied.groups = ["Staff"] }.map(\.key) == ["deny_groups"])
    #expect(problems { $1.conditions.denied.emails = ["@example.com"] }.map(\.key) == ["deny_emails"])
    #expect(problems { $1.conditions.denied.subjects = [""] }.map(\.key) == ["deny_subjects"])
    #expect(problems { $1.methods = (0...64).map { "M\($0)" } }.map(\.key) == ["methods"])
  }

  @Test("A user who is admitted by no route but public ones could be admitted nowhere")
  func couldAdmit() throws {
    var staff = AccessLists()
    staff.groups = ["staff"]
    var access = AccessSettings()
    access.conditions.denied.subjects = ["villain"]
    func table(_ routes: [RouteSettings]) throws -> RouteTable {
      try RouteTable(access: access, routes: routes, groups: directory.names)
    }
    let closed = try table([
      RouteSettings(path: "/", access: .lists(staff)), RouteSettings(path: "/open/", access: .public),
      RouteSettings(path: "/never/", access: .deny),
    ])
    #expect(closed.couldAdmit(user("boss")))
    #expect(!closed.couldAdmit(user("x")), "nothing is left to everybody with a session")
    #expect(try table([RouteSettings(path: "/a/", access: .lists(staff))]).couldAdmit(user("x")))
    #expect(try !table([]).couldAdmit(user("villain")) && table([]).isDenied(user("villain")))
    #expect(!closed.isDenied(user("x")))
    var conditional = RouteSettings(path: "/", access: .lists(staff))
    conditional.methods = ["GET"]
    #expect(try table([conditional]).couldAdmit(user("x")), "other methods are for everybody with a session")
    conditional.methods = nil
    conditional.networks = [try #require(NetworkPrefix("10.0.0.0/8"))]
    conditional.maxAge = 60
    #expect(try table([conditional]).couldAdmit(user("boss")), "whatever the address and the age")
    var school = RouteSettings(path: "/", access: .signedIn)
    school.conditions.requirements = [ClaimRequirement(claim: "org_id", values: ["1"])]
    #expect(try table([school]).couldAdmit(user("x")) { $0 == "org_id" ? ["1"] : [] })
    #expect(try !table([school]).couldAdmit(user("x")))
  }
}
