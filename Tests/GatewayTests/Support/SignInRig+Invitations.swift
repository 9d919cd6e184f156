import AccessPolicy
import FoundationEssentials
import Operations
import Pages
import Sessions
import Testing

@testable import Gateway

extension SignInRig {
  /// The endpoint of invitations, with the parts of this rig.
  func invitationEndpoint(_ evaluator: AccessEvaluator, hosts: [GateSite] = []) -> InvitationEndpoint {
    InvitationEndpoint(
      origin: rig.settings.publicAddress, pages: responses.pages, requestSessions: verification.requestSessions,
      store: rig.store, storeHealth: rig.storeHealth, sessions: rig.sessions, evaluator: evaluator, hosts: hosts,
      audit: AuditTrail(.silent, keyring: rig.keyring))
  }

  /// Creates an invitation to the group "guests", for a minute.
  func invite(uses: Int = 1) async throws -> InvitationCode {
    let group = try #require(GroupName("guests"))
    let (code, now) = (InvitationCode.random(), rig.clock.now)
    try await rig.store.create(
      Invitation(
        id: "abcd1000", group: group, uses: uses, expires: now.addingTimeInterval(60), note: nil, created: now,
        by: "cli"),
      hash: code.hash)
    return code
  }
}
