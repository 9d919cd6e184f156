import AppleIdentity
import DataPlane
import FoundationEssentials
import HTTPTypes
import Operations
import Pages
import Sessions
import Synchronization
import Testing

@testable import Gateway

// The responses that end a sign-in: a page, or a redirect to a page or an app, and the cookies that they set.
@Suite("The responses that end a sign-in")
struct SignInResponsesTests {
  private func cookies(_ response: ControlResponse) -> [String] { response.head.headerFields[values: .setCookie] }

  private func clearing(_ state: SignInState) -> String { SignInState.clearCookie(state.identifier, .standard) }

  @Test("A completed sign-in leads to its page with the session's cookie, and removes its own cookie alone")
  func completed() async throws {
    let signIn = try await SignInRig()
    let (state, other) = (signIn.begin(), signIn.begin(.page("/other")))
    let identifier = SessionIdentifier.random()
    let made = IdentifiedSession(
      identifier: identifier, snapshot: try signIn.rig.signIn("001.anna", identifier: identifier).snapshot)
    let sent = try [state, other].map { String(try $0.setCookie(signIn.rig.keyring).prefix { $0 != ";" }) }
    let response = signIn.responses.completed(made, of: state, signIn.request(sent))
    #expect(response.head.status == .seeOther && response.head.headerFields[.location] == "/pears")
    let set = cookies(response)
    #expect(set.contains { $0.hasPrefix(signIn.rig.cookie(of: identifier, on: .publicURL)) })
    #expect(set.contains { $0.hasPrefix("\(CookieNames.standard.lastAccount)=") })
    #expect(set.contains(clearing(state)) && !set.contains(clearing(other)))
    // The other one replaces this session when it is completed.
    let updated = set.filter { $0.hasPrefix(CookieNames.standard.attempts) && $0 != clearing(state) }
    let pending = PendingSignIns(
      of: signIn.request(updated.map { String($0.prefix { $0 != ";" }) }), signIn.rig.keyring)
    #expect(pending.all() == [other.replacing(identifier.handle, keepsPath: true)])
    try await signIn.rig.stop()
  }

  @Test("The page of a failure leads on, is counted by its reason, and leaves the cookie to a reload")
  func failure() async throws {
    let signIn = try await SignInRig()
    let error = SignInError(.attemptEnded, "attempt_missing")
    let response = signIn.responses.failure(error, of: signIn.begin(), signIn.request())
    #expect(response.head.status == .badRequest && cookies(response).isEmpty)
    #expect(String(decoding: response.body, as: UTF8.self).contains("pears"))
    let unknown = signIn.responses.failure(error, signIn.request())
    #expect(unknown.head.status == .badRequest && !String(decoding: unknown.body, as: UTF8.self).contains("pears"))
    let skipped = signIn.responses.frontPage(insteadOf: error, signIn.request())
    #expect(skipped.head.status == .seeOther && skipped.head.headerFields[.location] == "/")
    #expect(signIn.rig.metrics.signIns.total("attempt_missing") == 3)
    try await signIn.rig.stop()
  }

  @Test("An app learns of success and of failure by a redirect without a session's cookie, which ends the sign-in")
  func app() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin(try SignInRig.app())
    let failed = signIn.responses.failure(SignInError(.cancelled, "cancelled"), of: state, signIn.request())
    #expect(failed.head.status == .seeOther && cookies(failed) == [clearing(state)])
    #expect(failed.head.headerFields[.location] == "com.example.app:/in?error=\(PageFailure.cancelled.rawValue)")
    let identifier = SessionIdentifier.random()
    let made = IdentifiedSession(
      identifier: identifier, snapshot: try signIn.rig.signIn("001.anna", identifier: identifier).snapshot)
    let completed = signIn.responses.completed(made, of: state, signIn.request())
    #expect(completed.head.status == .seeOther && cookies(completed) == [clearing(state)])
    #expect(completed.head.headerFields[.location]?.hasPrefix("com.example.app:/in?code=") == true)
    try await signIn.rig.stop()
  }

  @Test("Only the refusal of a banned user removes an account's data from the browser")
  func banned() async throws {
    let signIn = try await SignInRig()
    let expected: [(PageFailure, String?)] = [(.banned, "\"cache\""), (.appleUnreachable, nil)]
    for (page, cleared) in expected {
      let response = signIn.responses.failure(SignInError(page, "reason"), of: signIn.begin(), signIn.request())
      #expect(response.head.headerFields[.clearSiteData] == cleared, "\(page)")
    }
    try await signIn.rig.stop()
  }

  @Test("The name of a failed sign-in is kept for the owner that the response claims, and without one not at all")
  func keptName() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    var response = ControlResponse(.badRequest)
    signIn.responses.keepName(of: try signIn.grant(of: state, user: nil, givenName: "Anna"), in: &response)
    signIn.responses.keepName(of: try signIn.grant(of: state, user: "001.anna"), in: &response)
    #expect(cookies(response).isEmpty)
    signIn.responses.keepName(of: try signIn.grant(of: state, user: "001.anna", givenName: "Anna"), in: &response)
    let cookie = try #require(cookies(response).first)
    let kept = PendingDisplayName.open(
      in: signIn.request([String(cookie.prefix { $0 != ";" })]), signIn.rig.keyring, now: .now)
    #expect(kept?.name.text == "Anna" && kept?.owner == .subject("001.anna"))
    try await signIn.rig.stop()
  }
}
