import AccessPolicy
import HTTPTypes
import Testing
import WebFormats

@testable import Gateway

// Answers to the doctor's requests to public_url.
//
// - Accepted: the gateway's own, to each of the two requests.
// - Told apart: another host, another path, another path_prefix, an error of the gateway, a cache, a redirect, a loop,
//   a proxy without a gateway, and other services, also those whose answers look alike.

@Suite("The doctor's look at public_url")
struct PublicURLExaminationTests {
  private let examination: PublicURLExamination

  init() throws {
    examination = PublicURLExamination(origin: try PublicOrigin(parsing: "https://app.example.com"), prefix: "/.auth")
  }

  private func failure(_ error: String, _ others: String = "") -> String {
    #"{"error":"\#(error)","message":"It failed.","request_id":"0123456789abcdef0123456789abcdef"\#(others)}"# + "\n"
  }

  private var signInRequired: String { failure("sign_in_required", #","sign_in":"/.auth/sign-in""#) }

  private func problem(
    _ status: Int, _ body: String, fields: HTTPFields = [:], to endpoint: GatewayEndpoint = .account
  ) -> DoctorFinding? {
    examination.problem(
      of: HTTPResponse(status: .init(code: status), headerFields: fields), Array(body.utf8), to: endpoint)
  }

  /// Expects a warning with a remedy.
  private func expectWarning(
    _ finding: DoctorFinding?, _ seen: String, _ remedy: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(finding?.status == .warning, sourceLocation: sourceLocation)
    #expect(finding?.seen.contains(seen) == true, "\(finding?.seen ?? "")", sourceLocation: sourceLocation)
    #expect(finding?.remedy?.contains(remedy) == true, "\(finding?.remedy ?? "")", sourceLocation: sourceLocation)
  }

  @Test("The gateway's own answers to the two requests are no problem")
  func own() {
    #expect(PublicURLExamination.endpoints == [.account, .notifications])
    #expect(problem(401, signInRequired) == nil)
    #expect(problem(405, failure("method_not_allowed"), to: .notifications) == nil)
    // Varnish and some CDNs add it to answers that they have just received.
    #expect(problem(401, signInRequired, fields: [.age: "0"]) == nil)
  }

  @Test("A proxy that changes Host, the path or the way is told by the gateway's answer")
  func changedRequests() {
    expectWarning(
      problem(421, failure("misdirected_request")), "not for the host app.example.com", "forward Host unchanged")
    // A path of the application, to which a proxy has changed this one.
    expectWarning(problem(401, signInRequired, to: .notifications), "as it answers another path", "below /.auth/")
    expectWarning(problem(404, failure("not_found"), to: .notifications), "404 (not_found)", "below /.auth/")
    expectWarning(
      problem(401, failure("sign_in_required", #","sign_in":"/login/sign-in""#)),
      "with another path_prefix: it signs in at /login/sign-in", "reload")
    expectWarning(problem(401, failure("sign_in_required")), "no path", "reload")
  }

  @Test("A gateway that cannot answer is told as that")
  func unavailable() {
    expectWarning(problem(503, failure("service_unavailable")), "503 (service_unavailable)", "its log")
  }

  @Test("An answer that a cache has kept is told by its age")
  func cached() {
    expectWarning(problem(401, signInRequired, fields: [.age: "12"]), "Age: 12", "Cache-Control")
    expectWarning(
      problem(405, failure("method_not_allowed"), fields: [.age: "7"], to: .notifications), "Age: 7", "Cache-Control")
  }

  @Test("A redirect is told with its target, one to the same address as a loop, and only a part of a long one is shown")
  func redirects() {
    expectWarning(
      problem(301, "", fields: [.location: "https://www.example.com/"]), "answers 301 and redirects to https://www.ex",
      "forward requests")
    expectWarning(
      problem(308, "", fields: [.location: "https://app.example.com/.auth/account"]), "redirects to itself",
      "redirect = true")
    let long = problem(302, "", fields: [.location: String(repeating: "x", count: 5_000)])
    #expect((long?.seen.count ?? 5_000) < 400)
  }

  @Test("A proxy that does not reach the gateway is told by its status code", arguments: [502, 503, 504])
  func noGateway(status: Int) {
    expectWarning(
      problem(status, "<html>", fields: [.server: "nginx"]), "answers \(status) (Server: nginx), not from this gateway",
      "start the gateway")
  }

  @Test("An answer of another service is not taken for the gateway's, also if it looks alike")
  func otherServices() {
    let others = [
      problem(200, "<html>hello</html>"), problem(404, ""), problem(401, #"{"error":"sign_in_required"}"#),
      problem(401, #"{"error":"unauthorized","message":"no","request_id":"1"}"#), problem(401, "[]"),
      // The status of another error.
      problem(200, signInRequired),
      // A page of the proxy's own instead of the answer.
      problem(405, "<html>405 Not Allowed</html>", to: .notifications),
    ]
    for finding in others { expectWarning(finding, "which is no answer of a gateway", "lead to this gateway") }
  }
}
