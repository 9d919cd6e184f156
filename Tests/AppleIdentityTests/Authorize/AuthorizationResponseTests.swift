import AppleIdentity
import Secrets
import Testing
import WebFormats

@Suite("Apple's answer by way of the browser")
struct AuthorizationResponseTests {
  private func parse(_ form: String) throws -> AuthorizationResponse {
    try AuthorizationResponse.parse(FormFields(parsing: Array(form.utf8)))
  }

  private func problem(_ form: String) throws -> AuthorizationResponseError? {
    let fields = try FormFields(parsing: Array(form.utf8))
    do throws(AuthorizationResponseError) {
      _ = try AuthorizationResponse.parse(fields)
      return nil
    } catch {
      return error
    }
  }

  private func grant(_ form: String) throws -> AuthorizationResponse.Success {
    guard case .success(let grant) = try parse(form) else {
      throw try #require(nil as AuthorizationResponseError?)
    }
    return grant
  }

  @Test("Apple's response has code, token, state and, the first time, a name")
  func granted() throws {
    let user =
      "%7B%22name%22%3A%7B%22firstName%22%3A%22Tim%22%2C%22lastName%22%3A%22Apple%22%7D%2C%22email%22%3A%22t%40e.x%22%7D"
    let grant = try grant("state=s-1&code=c.0.a&id_token=h.p.s&user=\(user)")
    #expect(grant.code == AuthorizationCode("c.0.a"))
    #expect(grant.identityToken == UnverifiedIdentityToken("h.p.s"))
    #expect(grant.state == "s-1")
    #expect(grant.user?.name == "Tim Apple")
    #expect(grant.userProblem == nil)
  }

  @Test("Apple's response may lack a token and a name")
  func codeOnly() throws {
    let grant = try grant("code=c.0.a&state=s-1")
    #expect(grant.identityToken == nil)
    #expect(grant.user == nil)
    #expect(grant.userProblem == nil)
  }

  @Test(
    "Apple's response is accepted without a name if the user field cannot be read",
    arguments: ["x", "%7B", "%5B%5D", "%FF", "%00"])
  func brokenUser(user: String) throws {
    let grant = try grant("code=c&state=s&user=\(user)")
    #expect(grant.user == nil)
    #expect(grant.userProblem != nil)
  }

  @Test("Apple's response has its state whether it succeeded or not, and an error may come without one")
  func state() throws {
    #expect(try parse("code=c&state=s-1").state == "s-1")
    #expect(try parse("error=user_cancelled_authorize&state=s-1").state == "s-1")
    #expect(try parse("error=user_cancelled_authorize").state == nil)
  }

  @Test("Apple's response reports that the user cancelled")
  func cancelled() throws {
    guard case .error(let refusal) = try parse("error=user_cancelled_authorize&state=s-1") else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.isCancelled)
    #expect(refusal.state == "s-1")
    guard case .error(let other) = try parse("error=invalid_request") else {
      Issue.record("not refused")
      return
    }
    #expect(!other.isCancelled)
    #expect(other.state == nil)
  }

  @Test(
    "Apple's response is refused if any field is repeated, also under an encoded name",
    arguments: [
      "code=a&code=b&state=s", "code=a&state=s&state=s", "code=a&state=s&%73tate=t", "code=a&state=s&x=1&x=2",
    ])
  func repeated(form: String) throws {
    guard case .repeated = try problem(form) else {
      Issue.record("taken: \(form)")
      return
    }
  }

  @Test("Apple's response is refused without a state, without a code, and with both error and code")
  func incomplete() throws {
    #expect(try problem("code=c") == .missing("state"))
    #expect(try problem("code=c&state=") == .missing("state"))
    #expect(try problem("state=s") == .missing("code"))
    #expect(try problem("") == .missing("code"))
    #expect(try problem("error=x&code=c&state=s") == .contradictory)
    #expect(try problem("error=x&id_token=t&state=s") == .contradictory)
  }

  @Test("Apple's response is refused if a field is too long, or has characters that Apple does not write")
  func bounds() throws {
    let long = String(repeating: "x", count: 17_000)
    for name in ["code", "state", "id_token", "error"] {
      let others = ["code", "state"].filter { $0 != name && name != "error" }.map { "&\($0)=a" }.joined()
      #expect(try problem("\(name)=\(long)\(others)") == .tooLong(name))
      for value in ["a%0D%0Ab", "a+b", "%00", "%C3%BC", "%E2%80%AE", "a%7Fb"] {
        #expect(try problem("\(name)=\(value)\(others)") == .malformed(name), "\(name) \(value)")
      }
    }
  }

  @Test(
    "Each field of Apple's response is accepted up to its limit, and no longer",
    arguments: [("code", 2_048), ("state", 1_024), ("error", 128), ("id_token", 16_384)])
  func limits(name: String, limit: Int) throws {
    let others = ["code", "state"].filter { $0 != name && name != "error" }.map { "&\($0)=a" }.joined()
    #expect(try problem("\(name)=\(String(repeating: "x", count: limit))\(others)") == nil)
    #expect(try problem("\(name)=\(String(repeating: "x", count: limit + 1))\(others)") == .tooLong(name))
  }

  @Test("Problems say what is wrong without repeating what was sent")
  func messages() throws {
    let problem = try #require(try problem("%0D%0Aevil=1&%0D%0Aevil=2"))
    #expect(problem.message == "the field ??evil is there more than once")
  }
}
