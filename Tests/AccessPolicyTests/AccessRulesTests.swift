import AccessPolicy
import Testing

@Suite("Rules")
struct AccessRulesTests {
  @Test("Subjects and organizations are compared exactly")
  func exactly() {
    let bySubject = rules { $0.subjects = ["001.Ab"] }
    #expect(bySubject.evaluate(Principal(subject: "001.Ab")) == .allowed)
    #expect(bySubject.evaluate(Principal(subject: "001.ab")) == .denied(.notListed))
    #expect(bySubject.evaluate(Principal(subject: "")) == .denied(.notListed))
    let byOrganization = rules { $0.organizations = ["Org"] }
    #expect(byOrganization.evaluate(Principal(subject: "x", organization: "Org")) == .allowed)
    #expect(byOrganization.evaluate(Principal(subject: "x", organization: "org")) == .denied(.notListed))
    #expect(byOrganization.evaluate(Principal(subject: "Org")) == .denied(.notListed))
  }

  @Test("Addresses are compared without regard to ASCII case, and nothing else is folded")
  func addresses() {
    let list = rules { $0.emails = ["Ann.K@Example.com"] }
    #expect(list.evaluate(user("ann.k@EXAMPLE.COM")) == .allowed)
    #expect(list.evaluate(user("ann.\u{212A}@example.com")) == .denied(.notListed))
    #expect(list.evaluate(user("ann.k@example.com.")) == .denied(.notListed))
    let accented = rules { $0.emails = ["\u{E9}@example.com"] }
    #expect(accented.evaluate(user("e\u{301}@example.com")) == .denied(.notListed))
    #expect(accented.evaluate(user("\u{C9}@example.com")) == .denied(.notListed))
  }

  @Test("A domain is what follows the @, whole")
  func domains() {
    let list = rules { $0.emailDomains = ["example.com"] }
    #expect(list.evaluate(user("a@Example.COM")) == .allowed)
    #expect(list.evaluate(user("a.b+c'd@example.com")) == .allowed)
    #expect(list.evaluate(user("j\u{F6}rg@example.com")) == .allowed)
    for email in [
      "a@sub.example.com", "a@notexample.com", "a@example.com@evil.test", "example.com", "@example.com", "a@",
      "a@example.com.evil", "\"a@b\"@example.com", "\"a b\"@example.com", "a@@example.com", "a@b@example.com",
      "a@evil.example,b@example.com", "a@evil.example;b@example.com", "a@evil.example b@example.com",
      "a@evil.example#@example.com", "a b@example.com", "a,b@example.com", "a;b@example.com", "<a@example.com>",
      "a(b)@example.com", "a\u{0D}\u{0A}b@example.com", "a\0b@example.com", ".a@example.com", "a.@example.com",
      "a..b@example.com", "a@example.com ", " a@example.com", "a@example.com.",
      "a\u{FF20}evil.example\u{FF0C}b@example.com",
      "a\u{85}b@example.com", "a\u{2028}b@example.com", "a\u{A0}b@example.com", "a:b@example.com", "a\\b@example.com",
    ] {
      #expect(list.evaluate(user(email)) == .denied(.notListed), "\(email)")
    }
  }

  @Test("An address counts only if it is verified, unless configured otherwise")
  func verified() {
    let list = rules { $0.emails = ["a@example.com"] }
    let unverified = Principal(subject: "x", email: "a@example.com", isEmailVerified: false)
    #expect(list.evaluate(unverified) == .denied(.emailNotVerified))
    #expect(list.evaluate(unverified, requiresVerifiedEmail: false) == .allowed)
  }

  @Test("The reason says what would help")
  func reasons() {
    let list = rules {
      $0.emails = ["a@example.com"]
      $0.subjects = ["boss"]
    }
    #expect(list.evaluate(Principal(subject: "x")) == .denied(.emailMissing))
    #expect(list.evaluate(Principal(subject: "x", email: "")) == .denied(.emailMissing))
    var hidden = user("q7@privaterelay.appleid.com")
    hidden.isPrivateEmail = true
    #expect(list.evaluate(hidden) == .denied(.emailHidden))
    hidden.subject = "boss"
    #expect(list.evaluate(hidden) == .allowed)
    #expect(rules { _ in }.evaluate(user("a@example.com")) == .denied(.notListed))
  }

  @Test("Users who hide the address, or who show it, are refused by private_email, whatever list names them")
  func privateEmail() {
    var hidden = user("q7@privaterelay.appleid.com")
    hidden.isPrivateEmail = true
    func decisions(_ condition: AccessConditions.PrivateEmail) -> [AccessDecision] {
      var lists = AccessLists()
      lists.subjects = [hidden.subject]
      var conditions = AccessConditions()
      conditions.privateEmail = condition
      let rules = AccessRules(lists: lists, conditions: [conditions])
      return [rules.evaluate(hidden), rules.evaluate(user("a@example.com"))]
    }
    #expect(decisions(.allow) == [.allowed, .allowed])
    #expect(decisions(.deny) == [.denied(.emailHidden), .allowed])
    #expect(decisions(.require) == [.allowed, .denied(.emailShown)])
  }

  @Test("Each claim that is required says one of its values, beside the lists")
  func requirements() {
    var conditions = AccessConditions()
    conditions.requirements = [
      ClaimRequirement(claim: "real_user_status", values: ["1", "2"]),
      ClaimRequirement(claim: "scopes", values: ["edu.users.read"]),
    ]
    let list = AccessRules(lists: nil, conditions: [conditions])
    func decision(_ list: AccessRules, _ claims: [String: [String]]) -> AccessDecision {
      list.evaluate(user("a@example.com")) { claims[$0] ?? [] }
    }
    let scopes = ["edu.classes.read", "edu.users.read"]
    #expect(decision(list, ["real_user_status": ["2"], "scopes": scopes]) == .allowed)
    #expect(decision(list, ["real_user_status": ["1"], "scopes": scopes]) == .allowed)
    #expect(decision(list, ["real_user_status": ["0"], "scopes": scopes]) == .denied(.claimNotMet))
    #expect(decision(list, ["real_user_status": ["2"], "scopes": ["edu.users"]]) == .denied(.claimNotMet))
    #expect(decision(list, ["scopes": scopes]) == .denied(.claimNotMet))
    #expect(list.evaluate(user("a@example.com")) == .denied(.claimNotMet))
    var lists = AccessLists()
    lists.emails = ["b@example.com"]
    let named = AccessRules(lists: lists, conditions: [conditions])
    #expect(decision(named, ["real_user_status": ["2"], "scopes": scopes]) == .denied(.notListed))
    // Bytes are compared: what looks alike is something else.
    conditions.requirements = [ClaimRequirement(claim: "x", values: ["\u{E9}"])]
    #expect(decision(AccessRules(lists: nil, conditions: [conditions]), ["x": ["e\u{301}"]]) == .denied(.claimNotMet))
  }

  private func rules(_ edit: (inout AccessLists) -> Void) -> AccessRules {
    var lists = AccessLists()
    edit(&lists)
    return AccessRules(lists: lists)
  }

  private func user(_ email: String) -> Principal {
    Principal(subject: "someone", email: email, isEmailVerified: true)
  }
}
