import Foundation
import Testing

@testable import Sessions

@Suite("Bans, invitations, machine tokens and requests for access")
struct AccessTests {
  private func ban(until seconds: Double?) -> Ban {
    Ban(until: seconds.map { noon.addingTimeInterval($0) }, reason: nil, since: noon, by: .token)
  }

  @Test("The moment at which a ban or a machine token ends is too late for it")
  func ends() throws {
    let name = try #require(GroupName("backup"))
    for (end, isInForce) in [(nil, true), (-1, false), (0, false), (0.001, true), (1, true)] as [(Double?, Bool)] {
      #expect(ban(until: end).isInForce(at: noon) == isInForce, "\(String(describing: end))")
      let token = MachineToken(
        name: name, handle: PublicSessionID(high: 1, low: 2), group: name, created: noon,
        expires: end.map { noon.addingTimeInterval($0) }, by: "token")
      #expect(token.isInForce(at: noon) == isInForce, "\(String(describing: end))")
    }
  }

  @Test("A ban outlasts another one only if that ends earlier")
  func outlasts() {
    #expect(ban(until: 1).outlasts(nil) && ban(until: nil).outlasts(nil))
    #expect(ban(until: 2).outlasts(ban(until: 1)) && ban(until: nil).outlasts(ban(until: 1)))
    #expect(!ban(until: 1).outlasts(ban(until: 1)) && !ban(until: 1).outlasts(ban(until: 2)))
    #expect(!ban(until: 1).outlasts(ban(until: nil)) && !ban(until: nil).outlasts(ban(until: nil)))
  }

  @Test("An invitation admits as many users as it says before its end, each once, and nobody who is banned")
  func invitations() throws {
    let group = try #require(GroupName("guests"))
    func invitation(used: Int, ends: Double = 1) -> Invitation {
      Invitation(
        id: "abcdefgh", group: group, uses: 2, used: used, expires: noon.addingTimeInterval(ends), note: nil,
        created: noon, by: "token")
    }
    #expect(invitation(used: 0).isOpen(at: noon) && invitation(used: 1).isOpen(at: noon))
    #expect(!invitation(used: 2).isOpen(at: noon) && !invitation(used: 3).isOpen(at: noon))
    #expect(!invitation(used: 0, ends: 0).isOpen(at: noon) && !invitation(used: 0, ends: -1).isOpen(at: noon))
    func outcome(
      _ invitation: Invitation, ban: Ban? = nil, isMember: Bool = false, hasUsed: Bool = false
    ) -> RedemptionOutcome {
      invitation.outcome(for: ban, isMember: isMember, hasUsed: hasUsed, at: noon)
    }
    let open = invitation(used: 1)
    #expect(outcome(open) == .joined(group))
    #expect(outcome(open, ban: ban(until: 0)) == .joined(group), "the ban is over")
    #expect(outcome(open, ban: ban(until: 1)) == .banned)
    #expect(outcome(open, ban: ban(until: nil), isMember: true) == .banned)
    #expect(outcome(open, isMember: true) == .alreadyMember(group))
    #expect(outcome(open, hasUsed: true) == .closed)
    #expect(outcome(invitation(used: 2)) == .closed && outcome(invitation(used: 0, ends: 0)) == .closed)
  }

  @Test("The name of a group is 1 to 64 letters, digits, hyphens, underscores and dots of ASCII")
  func groupNames() {
    let longest = String(repeating: "a", count: 64)
    for name in ["a", "A-Z_0.9", ".", "-", longest] { #expect(GroupName(name)?.text == name, "\(name)") }
    for name in ["", longest + "a", "a b", "a/b", "a:b", "a@b", "a\n", "ä", "a\0", "a,b", "a+b", "`", "{", "[", "^"] {
      #expect(GroupName(name) == nil, "\(name)")
    }
  }

  @Test("The code of a request is understood as people type it, and nothing else is")
  func requestCodes() {
    for typed in ["K7QF-3MDP", "k7qf-3mdp", "K7QF3MDP", "k7qf 3mdp", " K-7-Q-F-3-M-D-P ", "K7qF3mDp"] {
      #expect(AccessRequestCode(typed)?.text == "K7QF-3MDP", "\(typed)")
    }
    #expect(AccessRequestCode("OoIi-LlZ9")?.text == "0011-11Z9")
    for typed in ["", "K7QF-3MD", "K7QF-3MDPA", "K7QF-3MDU", "K7QF_3MDP", "K7QF-3MDé", "K7QF-3MD\n", "{7QF-3MDP"] {
      #expect(AccessRequestCode(typed) == nil, "\(typed)")
    }
    for _ in 0..<100 {
      let code = AccessRequestCode.random()
      #expect(code.text.utf8.count == 9 && AccessRequestCode(code.text) == code)
    }
  }
}
