import AccessPolicy
import DataPlane
import FoundationEssentials
import HTTPTypes
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("The exchange of an app's one-time code")
struct NativeExchangeTests {
  // The verifier and its challenge of RFC 7636, appendix B.
  private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

  private func endpoint(_ signIn: SignInRig) -> NativeEndpoint {
    var native = NativeSettings()
    native.returnSchemes = ["com.example.app"]
    return NativeEndpoint(
      origin: signIn.rig.settings.publicAddress, native: native, keyring: signIn.rig.keyring,
      pages: signIn.responses.pages, requestSessions: signIn.verification.requestSessions,
      codeExchange: signIn.verification.codeExchange, creation: signIn.verification.creation,
      reset: signIn.responses.reset)
  }

  /// The app's request with the code of a session.
  private func request(_ signIn: SignInRig, for identifier: SessionIdentifier) throws -> ControlRequest {
    let challenge = try #require(AppReturn.challenge(parsing: Array(Self.challenge.utf8)))
    let appReturn = try #require(AppReturn(identifier, challenge: challenge))
    let code = try signIn.rig.keyring.sealAppReturn(appReturn, now: .now)
    var request = signIn.request()
    request.head.path = "/.auth/native/exchange"
    request.head.headerFields = [.contentType: "application/json"]
    request.body = Array("{\"code\":\"\(code)\",\"code_verifier\":\"\(Self.verifier)\"}".utf8)
    return request
  }

  @Test("A store that fails during the exchange does not use up the code", arguments: ["find", "consume"])
  func storeFailure(operation: String) async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let identifier = SessionIdentifier.random()
    _ = try rig.signIn("001.anna", identifier: identifier)
    let (endpoint, request) = (self.endpoint(signIn), try self.request(signIn, for: identifier))
    rig.store.state.withLock { $0.nextFailures[operation] = StoreError(code: .interrupted, message: "gone") }
    #expect(await endpoint.exchange(request).head.status == .serviceUnavailable)
    let second = await endpoint.exchange(request)
    #expect(second.head.status == .ok && second.head.headerFields[.setCookie] != nil)
    let third = await endpoint.exchange(request)
    #expect(third.head.status == .badRequest && third.head.headerFields[.setCookie] == nil)
    try await rig.stop()
  }

  @Test("The code of a session that has ended gets no session")
  func endedSession() async throws {
    let signIn = try await SignInRig()
    let request = try self.request(signIn, for: .random())
    let response = await endpoint(signIn).exchange(request)
    #expect(response.head.status == .unauthorized && response.head.headerFields[.setCookie] == nil)
    try await signIn.rig.stop()
  }
}
