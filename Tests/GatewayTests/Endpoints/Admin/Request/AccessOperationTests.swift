import FoundationEssentials
import Sessions
import Testing

@testable import Gateway

// Requests to the admin API about who may come in, without a store.

@Suite("Operations on access, from requests")
struct AccessOperationTests {
  private func operation(_ method: String, _ target: String, _ body: String = "") throws -> AdminRequest {
    try AdminRequest(method: method, target: target, body: Array(body.utf8))
  }

  private func refusal(_ method: String, _ target: String, _ body: String = "") -> AdminError? {
    do {
      _ = try operation(method, target, body)
      return nil
    } catch {
      return error as? AdminError
    }
  }

  @Test("Each path and method is its operation, and HEAD is GET")
  func operations() throws {
    let subject = try #require(Subject("001.a"))
    #expect(try operation("PUT", "/accounts/001.a/ban") == .access(.ban(subject, until: nil, reason: nil)))
    #expect(
      try operation("PUT", "/accounts/001.a/ban", #"{"until":"30d","reason":"x"}"#)
        == .access(.ban(subject, until: "30d", reason: "x")))
    #expect(try operation("DELETE", "/accounts/001.a/ban") == .access(.unban(subject)))
    #expect(try operation("HEAD", "/groups") == .access(.list(.groups)))
    #expect(try operation("PUT", "/groups/staff/members/001.a") == .access(.addMember(subject, group: "staff")))
    #expect(
      try operation("POST", "/requests/K7QF-3MDP/admit", #"{"group":"staff"}"#)
        == .access(.admit("K7QF-3MDP", group: "staff")))
    #expect(
      try operation("POST", "/invitations", #"{"group":"staff"}"#)
        == .access(.invite(InvitationSettings(group: "staff"))))
    #expect(
      try operation("GET", "/accounts?group=staff&limit=7&after=001.a")
        == .access(.list(.accounts(AccessOperation.AccountFilter(group: "staff", after: subject, limit: 7)))))
    #expect(try operation("GET", "/accounts?subject=001.a") == .operation(.findSubject(subject)))
    #expect(
      try operation("GET", "/accounts/001.a/sessions")
        == .operation(.sessions(of: subject, after: .start, limit: 1_000)))
    #expect(
      try operation("GET", "/accounts/001.a/sessions?after=17.AQ&limit=7")
        == .operation(.sessions(of: subject, after: SessionPlace(began: 17, handle: [1]), limit: 7)))
    #expect(AdminRequest.owns("/tokens/x") && AdminRequest.owns("/requests") && !AdminRequest.owns("/token"))
  }

  @Test("A wrong method names those that the path has")
  func methods() {
    #expect(refusal("POST", "/groups")?.allowed == ["GET", "HEAD"])
    #expect(refusal("GET", "/accounts/001.a/ban")?.allowed == ["PUT", "DELETE"])
    #expect(refusal("put", "/tokens")?.status == 405)
  }

  @Test(
    "A body that is not an object of the known members in their types is refused",
    arguments: [
      "{", "[]", "7", #"{"group":7}"#, #"{"grup":"x"}"#, #"{"group":null}"#, #"{"group":"a","group":"a"}"#, "{}",
    ])
  func bodies(body: String) {
    #expect(refusal("POST", "/invitations", body)?.code == "bad_body")
  }

  @Test("An end that is a day is the end of that day, a beginning its beginning; an age counts from now and back")
  func times() throws {
    let now = Date(timeIntervalSince1970: 1_000_000)
    #expect(try AccessTimes.end("1970-01-20", now: now).timeIntervalSince1970 == 20 * 86_400 - 1)
    #expect(try AccessTimes.since("1970-01-20", now: now).timeIntervalSince1970 == 19 * 86_400)
    #expect(try AccessTimes.end("1h", now: now).timeIntervalSince1970 == 1_003_600)
    #expect(try AccessTimes.since("1h", now: now).timeIntervalSince1970 == 996_400)
    #expect(throws: AdminError.badDate) { try AccessTimes.end("tomorrow", now: now) }
  }
}
