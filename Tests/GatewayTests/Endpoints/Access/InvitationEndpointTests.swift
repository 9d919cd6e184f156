import AccessPolicy
import DataPlane
import FoundationEssentials
import HTTPTypes
import Pages
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Answers to a redeemed invitation")
struct InvitationEndpointTests {
  @Test("A form sent twice is answered both times with the host that admits its group, whichever request joins")
  func sentTwice() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    var lists = AccessLists()
    lists.groups = ["guests"]
    // Everybody is admitted on the other host, and only the group on that of public_url.
    let host = HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com"))
    let routes = try RouteTable(
      access: AccessSettings(), routes: [RouteSettings(path: "/", access: .lists(lists))], groups: ["guests"],
      hosts: [host])
    let site = try GateSite(
      host, pages: PageSettings(), index: 0, prefix: rig.settings.publicAddress.prefix, routes: routes)
    let endpoint = signIn.invitationEndpoint(
      AccessEvaluator.forTests(routes, GroupDirectory([GroupSettings(name: "guests")])), hosts: [site])
    let code = try await signIn.invite(uses: 2)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    var request = signIn.request([cookie])
    request.head.path = "/.auth/invite/" + code.exposedText
    request.head.headerFields[.secFetchSite] = "same-origin"

    // The other request joins after this one has read the session.
    let (store, now) = (rig.store, rig.clock.now)
    let subject = snapshot.session.subject
    rig.store.state.withLock { state in
      state.beforeAnswer = { _ = try? await store.redeem(hash: code.hash, by: subject, isMember: false, at: now) }
    }
    for _ in 0..<2 {
      let answer = await endpoint.join(request)
      let page = String(decoding: answer.body, as: UTF8.self)
      #expect(answer.head.status == .ok)
      #expect(page.contains("href=\"/\"") && !page.contains("wiki.example.com"), "\(page)")
    }
    #expect(rig.store.state.withLock { $0.invitations[code.hash]?.used } == 1)
    try await rig.stop()
  }

  @Test("A page of another site may link to an invitation, but not load it as an image or in a frame")
  func embedded() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = signIn.invitationEndpoint(
      AccessEvaluator.forTests(
        try RouteTable(groups: ["guests"]), GroupDirectory([GroupSettings(name: "guests")])))
    let code = try await signIn.invite()
    var request = signIn.request()
    request.head.method = .get
    request.head.path = "/.auth/invite/" + code.exposedText
    request.head.headerFields[.secFetchSite] = "cross-site"
    let destination = try #require(HTTPField.Name("Sec-Fetch-Dest"))
    for (wanted, status) in [("document", 200), ("iframe", 403), ("image", 403)] {
      request.head.headerFields[.secFetchMode] = wanted == "image" ? "no-cors" : "navigate"
      request.head.headerFields[destination] = wanted
      #expect(await endpoint.page(request).head.status.code == status, "\(wanted)")
    }
    try await rig.stop()
  }
}
