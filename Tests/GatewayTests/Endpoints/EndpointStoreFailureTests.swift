import AccessPolicy
import DataPlane
import FoundationEssentials
import HTTPTypes
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Sessions that endpoints cannot look up")
struct EndpointStoreFailureTests {
  private static func evaluator() throws -> AccessEvaluator {
    AccessEvaluator.forTests(
      try RouteTable(access: AccessSettings(), routes: [], groups: ["guests", "managers"]),
      GroupDirectory([GroupSettings(name: "guests"), GroupSettings(name: "managers")]))
  }

  /// A request of somebody who is signed in, from our own page.
  private static func request(_ signIn: SignInRig, to path: String) throws -> ControlRequest {
    var request = signIn.request([try signIn.rig.signIn("001.anna").cookie])
    request.head.path = path
    request.head.headerFields[.secFetchSite] = "same-origin"
    return request
  }

  private static let gone = StoreError(code: .interrupted, message: "gone")

  @Test("A request for access that cannot be made is one failed operation of the store")
  func accessRequest() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = AccessRequestEndpoint(
      origin: rig.settings.publicAddress, isEnabled: true, pages: signIn.responses.pages,
      returnTargets: ReturnTargets(rig.settings.publicAddress),
      requestSessions: signIn.verification.requestSessions, sessions: rig.sessions, store: rig.store,
      storeHealth: rig.storeHealth, evaluator: try Self.evaluator(),
      audit: AuditTrail(.silent, keyring: rig.keyring))
    let request = try Self.request(signIn, to: "/.auth/request-access")
    rig.store.state.withLock { $0.failures["find"] = Self.gone }
    #expect(await endpoint.ask(request).head.status == .serviceUnavailable)
    let failures = rig.metrics.storeFailures
    #expect(failures.total("find") == 1 && failures.total("request_access") == 0)
    try await rig.stop()
  }

  @Test("An invitation that cannot be redeemed is one failed operation of the store")
  func invitation() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = signIn.invitationEndpoint(try Self.evaluator())
    let code = try await signIn.invite()
    let request = try Self.request(signIn, to: "/.auth/invite/" + code.exposedText)
    rig.store.state.withLock { $0.failures["find"] = Self.gone }
    #expect(await endpoint.join(request).head.status == .serviceUnavailable)
    let failures = rig.metrics.storeFailures
    #expect(failures.total("find") == 1 && failures.total("invitation") == 0)
    try await rig.stop()
  }

  @Test("A people page that cannot be shown is one failed operation of the store")
  func people() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let audit = AuditTrail(.silent, keyring: rig.keyring)
    let evaluator = try Self.evaluator()
    var access = AccessSettings()
    access.managers = ["managers"]
    let authority = ManagerAuthority(access, [], evaluator)
    let endpoint = PeopleEndpoint(
      origin: rig.settings.publicAddress, pages: signIn.responses.pages,
      requestSessions: signIn.verification.requestSessions, authority: authority,
      lists: PeopleLists(
        store: rig.store, authority: authority, storeHealth: rig.storeHealth, sessions: rig.sessions),
      acts: PeopleActs(
        accessChanges: AccessChanges(
          store: rig.store, sessions: rig.sessions, policy: evaluator.policy, memberPlace: { _, _ in nil },
          invitationPrefix: "https://app.example.com/", storeHealth: rig.storeHealth, metrics: rig.metrics,
          audit: audit),
        store: rig.store, sessions: rig.sessions, authority: authority, audit: audit),
      storeHealth: rig.storeHealth, sessions: rig.sessions, audit: audit, refusals: LogLimit())
    let request = try Self.request(signIn, to: "/.auth/people")
    rig.store.state.withLock { $0.failures["find"] = Self.gone }
    #expect(await endpoint.page(request).head.status == .serviceUnavailable)
    let failures = rig.metrics.storeFailures
    #expect(failures.total("find") == 1 && failures.total("people") == 0)
    try await rig.stop()
  }
}
