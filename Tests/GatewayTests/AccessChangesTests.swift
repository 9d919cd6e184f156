import AccessPolicy
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Changes of access at run time")
struct AccessChangesTests {
  private static let actor = AccessChanges.Actor(name: "cli")

  @Test("A request that somebody else rejects while it is being admitted admits nobody")
  func rejectedMeanwhile() async throws {
    let rig = try await GateRig()
    let administration = AccessChanges(
      store: rig.store, sessions: rig.sessions, groups: { GroupDirectory([GroupSettings(name: "guests")]) },
      memberPlace: { _, _ in nil }, requiresVerifiedEmail: true, invitationPrefix: "https://app.example.com/",
      storeHealth: rig.storeHealth, metrics: rig.metrics, audit: AuditTrail(.silent, keyring: rig.keyring))
    let subject = try rig.signIn("001.a").snapshot.account.subject
    let code = AccessRequestCode.random()
    _ = try await rig.store.ask(subject, code: code, at: rig.clock.now)
    rig.store.state.withLock { state in
      state.beforeRequest = { _ = try? await administration.reject(code.text, by: Self.actor) }
    }
    await #expect(throws: AdministrationError.noRequest) {
      _ = try await administration.admit(code.text, to: "guests", by: Self.actor)
    }
    #expect(try await rig.store.groups(of: subject).isEmpty)
    _ = try await rig.store.ask(subject, code: code, at: rig.clock.now)
    let admitted = try await administration.admit(code.text, to: "guests", by: Self.actor)
    #expect(admitted.subject == subject)
    #expect(try await rig.store.groups(of: subject).map(\.text) == ["guests"])
    try await rig.stop()
  }
}
