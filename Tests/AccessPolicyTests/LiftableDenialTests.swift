import Testing

@testable import AccessPolicy

// The page of a refused user offers to ask for access where a group could help.
@Suite("Denials that a group could lift")
struct LiftableDenialTests {
  private func compile(groups: [String], privateEmail: AccessConditions.PrivateEmail = .allow) -> AccessRules {
    var lists = AccessLists()
    lists.emails = ["ada@example.com"]
    lists.groups = groups
    var conditions = AccessConditions()
    conditions.privateEmail = privateEmail
    return AccessRules(lists: lists, conditions: [conditions], groups: ["staff"])
  }

  @Test("Membership could lift a denial by the lists, and none by a deny list or a condition")
  func reasons() {
    for privateEmail in AccessConditions.PrivateEmail.allCases {
      let rules = compile(groups: ["staff"], privateEmail: privateEmail)
      for (reason, isLiftable) in [
        (.notListed, true), (.emailNotVerified, true), (.emailMissing, true), (.emailHidden, privateEmail != .deny),
        (.emailShown, false), (.denyListed, false), (.claimNotMet, false),
      ] as [(DenialReason, Bool)] {
        #expect(rules.couldBeLifted(reason) == isLiftable, "\(reason), private e-mail: \(privateEmail)")
      }
    }
  }

  @Test("Membership could lift nothing where no list names a group")
  func withoutGroups() {
    for reason in [
      DenialReason.notListed, .emailNotVerified, .emailMissing, .emailHidden, .emailShown, .denyListed, .claimNotMet,
    ] {
      #expect(!compile(groups: []).couldBeLifted(reason), "\(reason)")
      #expect(!AccessRules(lists: nil, groups: ["staff"]).couldBeLifted(reason), "\(reason)")
    }
  }
}
