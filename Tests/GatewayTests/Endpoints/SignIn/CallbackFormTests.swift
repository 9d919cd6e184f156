import AppleIdentity
import DataPlane
import HTTPTypes
import Secrets
import Testing

@testable import Gateway

// Apple's response in the body of a POST, or in the query of a GET.
@Suite("The form of a request to callback")
struct CallbackFormTests {
  private func request(
    _ body: String = "", query: String = "", type: String? = "application/x-www-form-urlencoded"
  ) -> ControlRequest {
    var head = HTTPRequest(method: .post, scheme: "https", authority: "a", path: "/.auth/callback\(query)")
    head.headerFields[.contentType] = type
    return ControlRequest(
      head: head, body: Array(body.utf8), client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")
  }

  private func reason<Result>(_ read: () throws(SignInError) -> Result) -> String? {
    do throws(SignInError) {
      _ = try read()
      return nil
    } catch {
      return error.reason
    }
  }

  @Test("The response is read from the body or the query")
  func response() throws {
    for form in [
      try CallbackForm(posted: request("code=c&state=s", type: "application/x-www-form-urlencoded; charset=utf-8")),
      try CallbackForm(queryOf: request("code=other", query: "?code=c&state=s")),
    ] {
      guard case .success(let grant) = try form.response() else {
        Issue.record("no success response")
        return
      }
      #expect(grant.state == "s" && grant.code == AuthorizationCode("c"))
    }
  }

  @Test("A request without a form, or with one that is no response, is refused, each with its reason")
  func refused() throws {
    for type in [nil, "application/json", "multipart/form-data"] {
      let ofAnotherType = request("code=c&state=s", type: type)
      let ofType = reason { () throws(SignInError) in try CallbackForm(posted: ofAnotherType) }
      #expect(ofType == "content_type")
    }
    let (body, query) = (request("code=%"), request(query: "?code=%"))
    let ofBody = reason { () throws(SignInError) in try CallbackForm(posted: body) }
    #expect(ofBody == "form")
    let ofQuery = reason { () throws(SignInError) in try CallbackForm(queryOf: query) }
    #expect(ofQuery == "query")
    let incomplete = try CallbackForm(posted: request("code=c"))
    let ofResponse = reason { () throws(SignInError) in try incomplete.response() }
    #expect(ofResponse == "answer")
  }

  @Test("Our own page posts the same fields again, and is recognized by the one that it adds")
  func repost() throws {
    let received = try CallbackForm(posted: request("state=s%26&user=%7B%7D"))
    #expect(!received.isFromOwnPage)
    #expect(received.repost.map { $0.name } == ["state", "user", "cordon_repost"])
    #expect(received.repost.map { $0.value } == ["s&", "{}", "1"])
    #expect(try CallbackForm(posted: request("state=s%26&cordon_repost=1")).isFromOwnPage)
  }
}
