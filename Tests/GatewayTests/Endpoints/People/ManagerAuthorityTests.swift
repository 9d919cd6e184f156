import AccessPolicy
import FoundationEssentials
import Pages
import Sessions
import Testing
import WebFormats

@testable import Gateway

@Suite("The authority of managers")
struct ManagerAuthorityTests {
  private static let now = Date(timeIntervalSince1970: 1_790_000_000)
  private let authority: ManagerAuthority

  init() throws {
    var access = AccessSettings()
    access.managers = ["managers"]
    access.conditions.denied.subjects = ["denied"]
    access.conditions.denied.groups = ["blocked"]
    var route = RouteSettings(path: "/a/")
    route.conditions.denied.groups = ["suspended"]
    let groups = [
      GroupSettings(name: "managers", members: ["anna", "mona", "@boss.example"]), GroupSettings(name: "guests"),
      GroupSettings(name: "blocked"), GroupSettings(name: "suspended"),
    ]
    let routes = try RouteTable(access: access, routes: [route], groups: groups.map(\.name))
    authority = ManagerAuthority(
      access, [route], AccessEvaluator.forTests(routes, GroupDirectory(groups)))
  }

  private func snapshot(
    _ name: String, began: Date = now, groups: [String] = [], ban: Ban? = nil, email: String? = nil
  ) throws -> SessionSnapshot {
    let subject = try #require(Subject(name))
    var claims = AccountClaims()
    claims.email = email
    claims.emailVerified = email != nil
    var account = Account(
      subject: subject, name: nil, claims: claims, latestAuthorization: began, lastVerified: began, lastAsked: began)
    account.access.groups = groups.compactMap { GroupName($0) }
    account.access.ban = ban
    let session = Session(.random(), of: subject, clientID: "web", now: began, lifetime: .seconds(86_400))
    return SessionSnapshot(session: session, account: account)
  }

  @Test("A member of a managers' group is a manager for an hour after signing in")
  func role() throws {
    func role(_ name: String, age: Double = 0, groups: [String] = [], email: String? = nil) throws
      -> ManagerAuthority.Status
    {
      let began = Self.now.addingTimeInterval(-age)
      return authority.status(try snapshot(name, began: began, groups: groups, email: email), at: Self.now)
    }
    #expect(try role("anna") == .manager)
    #expect(try role("ben", groups: ["managers"]) == .manager)
    #expect(try role("ben", email: "ben@boss.example") == .manager)
    #expect(try role("ben", groups: ["guests", "no-such-group"]) == .nobody)
    #expect(try role("anna", age: 3_599) == .manager)
    #expect(try role("anna", age: 3_600) == .signInTooOld)
    #expect(try role("ben", age: 3_600) == .nobody)
    // A clock that was wrong wrote it.
    #expect(try role("anna", age: -86_400) == .signInTooOld)
    #expect(try role("anna", groups: ["blocked"]) == .nobody)
    #expect(try role("denied", groups: ["managers"]) == .nobody)
  }

  @Test("A banned manager has no authority while the ban is in force")
  func banned() throws {
    func ban(until: Date?) -> Ban { Ban(until: until, reason: nil, since: Self.now, by: "cli") }
    #expect(authority.status(try snapshot("anna", ban: ban(until: nil)), at: Self.now) == .banned)
    #expect(authority.status(try snapshot("anna", ban: ban(until: Self.now)), at: Self.now) == .manager)
  }

  @Test("Managers may not touch groups of managers, groups of any deny list, or other managers")
  func protected() throws {
    for group in ["managers", "blocked", "suspended"] { #expect(authority.isProtected(group: group), "\(group)") }
    #expect(!authority.isProtected(group: "guests") && !authority.isProtected(group: "Managers"))
    #expect(authority.groups == ["guests"])
    let anna = try #require(Subject("anna"))
    func isProtected(_ name: String, groups: [String] = []) throws -> Bool {
      authority.isProtected(authority.evaluator.principal(try snapshot(name, groups: groups).account), from: anna)
    }
    #expect(try isProtected("mona"))
    #expect(try isProtected("ben", groups: ["managers"]))
    #expect(try !isProtected("ben", groups: ["guests"]))
    #expect(try !isProtected("anna"), "a manager may end their own sessions")
  }

  @Test("A form proposes the groups that [access] admits before others, each in alphabetical order")
  func orderOfGroups() throws {
    var access = AccessSettings()
    access.lists = AccessLists()
    access.lists?.groups = ["staff", "editors", "managers"]
    access.managers = ["managers"]
    let groups = ["archive", "staff", "managers", "machines", "editors"].map { GroupSettings(name: $0) }
    let routes = try RouteTable(access: access, routes: [], groups: groups.map(\.name))
    let authority = ManagerAuthority(access, [], AccessEvaluator.forTests(routes, GroupDirectory(groups)))
    #expect(authority.groups == ["editors", "staff", "archive", "machines"])
  }

  @Test("A ban of an operator is protected while it is in force, and one of a manager is not")
  func protectedBans() throws {
    func isProtected(by author: AccessAuthor, until: Date? = nil) -> Bool {
      Ban(until: until, reason: nil, since: Self.now, by: author).isProtected(at: Self.now)
    }
    // Stores of earlier versions may have other words; a manager's hash has neither other digits nor another length.
    let operators: [AccessAuthor] = [
      .token, .socket, "cli", "", "somebody", "0123456789abcdef0", "0123456789abcde", "0123456789abcdeg",
      "0123456789ABCDEF",
    ]
    for author in operators {
      #expect(isProtected(by: author), "\(author)")
      #expect(isProtected(by: author, until: Self.now.addingTimeInterval(1)), "\(author)")
      #expect(!isProtected(by: author, until: Self.now), "\(author)")
    }
    let audit = AuditTrail(.silent, keyring: try SessionKeyring.forTests("a"))
    for name in ["anna", "mona"] {
      let manager = try #require(Subject(name))
      #expect(!isProtected(by: audit.author(ofManager: manager)))
    }
  }

  @Test(
    "A form that lacks a field, or whose field is malformed, is not an act",
    arguments: [
      ("", nil), ("act=nothing", nil), ("act=admit&code=K7QF-3MDP", nil), ("act=admit&group=a", nil),
      ("act=admit&code=k7qf3mdp&group=a", "request_admit"), ("act=reject&code=K7QF-3MDP", "request_reject"),
      ("act=reject&code=K7QF", nil), ("act=add&person=001.a", nil), ("act=add&person=001.a&group=b", "group_add"),
      ("act=remove&person=001.a&group=b", "group_remove"), ("act=ban&person=", nil), ("act=ban&person=001.a", "ban"),
      ("act=unban&person=001.a", "unban"), ("act=end-session&person=001.a&session=x", nil),
      ("act=end-session&person=001.a&session=AAAAAAAAAAAAAAAAAAAAAA", "end_session"),
      ("act=end-sessions&person=001.a", "end_sessions"), ("act=invite", nil),
      ("act=invite&group=a", nil), ("act=invite&group=a&id=../x", nil),
      ("act=invite&group=a&id=abcd2345", "invitation_create"),
      ("act=revoke&id=abc", "invitation_revoke"), ("act=ban&act=unban&person=001.a", nil),
      ("act=add&person=001.a&group=%FF", nil),
    ] as [(String, String?)])
  func orders(form: String, name: String?) throws {
    #expect(PeopleActs.Act(try FormFields(parsing: Array(form.utf8)))?.name == name)
  }

  @Test("A search finds the beginning of a name, an address or a subject, without regard to case")
  func search() throws {
    var account = try snapshot("001.abc", email: "Anna.Berg@example.com").account
    account.name = PersonName(given: "Anna", family: "Bergström")
    for text in ["", "001.a", "ANNA.B", "anna berg", "berg", "BERGSTRö"] {
      #expect(AccountSearch(text).matches(account), "\(text)")
    }
    for text in ["01.abc", "example.com", "anna berglund", "x"] {
      #expect(!AccountSearch(text).matches(account), "\(text)")
    }
  }

  @Test("A user refused by lists may ask for access; one refused by a deny list or a condition may not")
  func asking() throws {
    var access = AccessSettings()
    var lists = AccessLists()
    lists.groups = ["guests"]
    lists.emails = ["x@example.com"]
    access.lists = lists
    var hidden = RouteSettings(path: "/hidden/")
    hidden.conditions.privateEmail = .deny
    access.conditions.denied.subjects = ["denied"]
    let routes = try RouteTable(access: access, routes: [hidden], groups: ["guests"])
    let evaluator = AccessEvaluator.forTests(routes, GroupDirectory([GroupSettings(name: "guests")]))
    #expect(evaluator.access(try snapshot("ben"), to: "/a?b") == .refusedByLists)
    #expect(evaluator.access(try snapshot("ben", groups: ["guests"]), to: "/a") == .admitted)
    #expect(evaluator.access(try snapshot("denied"), to: "/a") == .refused)
    var relay = try snapshot("ben", email: "a@privaterelay.appleid.com")
    var account = relay.account
    account.claims.isPrivateEmail = true
    relay = SessionSnapshot(session: relay.session, account: account)
    #expect(evaluator.access(relay, to: "/a") == .refusedByLists, "hiding the address may be answered by a group")
    #expect(evaluator.access(relay, to: "/hidden/") == .refused, "a group would not help")
  }
}

extension AccessEvaluator {
  /// An evaluator with these groups.
  static func forTests(_ routes: RouteTable, _ groups: GroupDirectory) -> AccessEvaluator {
    AccessEvaluator(policy: UserPolicy(routes, groups, allowsUnverifiedEmail: false))
  }
}
