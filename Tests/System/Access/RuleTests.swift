import Foundation
import TemporaryDirectoryTesting
import Testing

// What an identity token says, in rules.
//
// - Rules by subject, address, domain, organization and hidden address; refusals say why.
// - Any other claim can be required by a rule, and `verify` holds to it.
// - A rule that would let in nobody or everybody is a mistake.

@SystemActor
@Suite(
  "Rules about users", .serialized,
  .site {
    $0.ending = """
      [[route]]
      path = "/ben/"
      allow_emails = ["BEN@example.org"]
      [[route]]
      path = "/example-com/"
      allow_email_domains = ["example.com"]
      [[route]]
      path = "/school/"
      allow_organizations = ["6f3f8e5a-school"]
      [[route]]
      path = "/open/"
      private_email = "deny"
      [[route]]
      path = "/open-org/"
      allow_email_domains = ["example.org"]
      allow_organizations = ["6f3f8e5a-school"]
      private_email = "deny"
      [[route]]
      path = "/hidden/"
      private_email = "require"
      [[route]]
      path = "/teachers/"
      require_claims = ["scopes=edu.users.read", "email_verified=true"]
      [[route]]
      path = "/people/"
      require_claims = ["real_user_status=2"]
      [[route]]
      path = "/moving/"
      require_claims = ["transfer_sub=001.transfer.1", "transfer_sub=001.transfer.2"]
      [[route]]
      path = "/custom/"
      require_claims = ["nonce_supported=true", "custom=7"]
      [[route]]
      path = "/shut/"
      access = "deny"

      """
    $0["apple", "native_client_ids"] = "[\"com.example.app\"]"
    $0["listen", "trusted_proxies"] = "[\"127.0.0.0/8\"]"
  })
struct RuleTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.behave()
  }

  /// 200, or the code of the refusal.
  private func answer(_ visitor: Visitor, _ path: String) throws -> String {
    let response = try visitor.fetch(site.origin + path)
    return response.status == 200 ? "200" : try response.json()["error"] as? String ?? ""
  }

  @Test("Addresses, domains and organizations let in whom they name, and tell the others why not")
  func lists() throws {
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    let (dana, eve) = (try site.signedIn(as: "dana"), try site.signedIn(as: "eve"))
    #expect(try answer(ben, "/ben/x") == "200" && answer(anna, "/ben/x") == "forbidden")
    #expect(try answer(anna, "/example-com/x") == "200" && answer(ben, "/example-com/x") == "forbidden")
    #expect(try answer(dana, "/example-com/x") == "email_missing")
    #expect(try answer(dana, "/school/x") == "200" && answer(anna, "/school/x") == "forbidden")
    #expect(try answer(eve, "/open/x") == "200" && answer(dana, "/open/x") == "200", "nothing is hidden")
    #expect(try answer(dana, "/open-org/x") == "200" && answer(ben, "/open-org/x") == "200")
    #expect(try answer(anna, "/open-org/x") == "forbidden")
    #expect(try answer(anna, "/hidden/x") == "forbidden")
  }

  @Test("A user with a hidden address is told so if a rule needs it, and passes a rule that asks for just that")
  func hidden() throws {
    try site.apple.add(user: ["id": "hans", "first_name": "H", "last_name": "S", "email": "hans@example.com"])
    let hans = Visitor()
    try hans.signIn(site, as: "hans", hideEmail: true)
    for path in ["/example-com/x", "/open/x", "/open-org/x"] { #expect(try answer(hans, path) == "email_hidden") }
    #expect(try answer(hans, "/hidden/x") == "200")
    let page = try hans.open("\(site.origin)/open/page")
    #expect(page.status == 403 && page.response.fields["Content-Type"]?.hasPrefix("text/html") == true)
  }

  @Test("Every other claim can be required, flags alike from Booleans and from text", arguments: [true, false])
  func claims(flagsAsText: Bool) throws {
    try site.apple.switches(["flags_as_strings": flagsAsText, "nonce_supported": true])
    defer { try? site.apple.switches(["flags_as_strings": false]) }
    try site.apple.add(user: [
      "id": "tilda", "first_name": "T", "last_name": "A", "email": "tilda@example.com",
      "transfer_sub": "001.transfer.2", "claims": ["scopes": ["edu.classes.read", "edu.users.read"], "custom": 7],
    ])
    let (tilda, anna) = (try site.signedIn(as: "tilda"), try site.signedIn(as: "anna"))
    for path in ["/teachers/x", "/moving/x", "/custom/x"] {
      #expect(try answer(tilda, path) == "200", "\(path)")
      #expect(try answer(anna, path) == "forbidden", "\(path)")
      for (visitor, status) in [(tilda, 200), (anna, 403)] {
        let verified = try visitor.fetch(site.own("verify"), fields: [("X-Original-URI", path)])
        #expect(verified.status == status, "\(path)")
      }
    }
    #expect(try answer(tilda, "/people/x") == "forbidden", "Apple says it to native apps only")
  }

  @Test("A page that is denied to everybody says so, and not that the account is the wrong one")
  func closed() throws {
    for visitor in [try site.signedIn(as: "anna"), Visitor()] {
      #expect(try answer(visitor, "/shut/x") == "closed")
      let page = try visitor.open("\(site.origin)/shut/x")
      #expect(page.status == 403 && page.text.contains("Nobody can open this page"))
      #expect(!page.text.contains("another Apple Account"))
    }
  }

  @Test("The real-user status of a native app can be required", arguments: [(1, 403), (2, 200)])
  func realUser(status: Int, answer: Int) throws {
    try site.apple.add(user: [
      "id": "person\(status)", "first_name": "P", "last_name": "N", "email": "p@example.com",
      "real_user_status": status,
    ])
    let order = try site.apple.authorizeNatively("person\(status)", nonce: "n")
    let response = try site.gateway.client.post(
      "/.auth/native", json: ["identity_token": order.identityToken, "authorization_code": order.code, "nonce": "n"])
    let cookie = try #require(response.setCookies.first?.split(separator: ";").first.map(String.init))
    #expect(try site.gateway.client.get("/people/x", fields: [("Cookie", cookie)]).status == answer)
  }

  @Test("A rule by subject lets in one user")
  func subject() throws {
    let subject = try site.apple.subject(of: "anna")
    let other = try Site(adjust: {
      $0.ending = "[[route]]\npath = \"/anna/\"\nallow_subjects = [\"\(subject)\"]\n"
    })
    defer { other.stop() }
    #expect(try other.signedIn(as: "anna").fetch("\(other.origin)/anna/x").status == 200)
    #expect(try other.signedIn(as: "ben").fetch("\(other.origin)/anna/x").status == 403)
  }

  @Test(
    "Rules that would let in nobody or everybody without a word are mistakes, with their reason",
    arguments: [
      ("allow_email_domains = [\"privaterelay.appleid.com\"]", nil, "everybody who hides the address"),
      ("allow_email_domains = [\"example.com\"]", "[\"name\"]", "apple.scopes does not request them"),
      ("allow_emails = [\"a@example.com\"]", "[]", "apple.scopes does not request them"),
      ("private_email = \"deny\"", "[]", "apple.scopes does not request them"),
      ("private_email = \"sometimes\"", nil, "private_email"),
      ("allow_emails = []\nprivate_email = \"deny\"", nil, "it would admit nobody"),
      ("access = \"public\"\nprivate_email = \"deny\"", nil, "and also access lists"),
      ("require_claims = [\"email=a@example.com\"]", nil, "write allow_emails"),
      ("require_claims = [\"real_user_status=likely\"]", nil, "is what Apple never says"),
      ("require_claims = [\"nonce=x\"]", nil, "changes with each sign-in"),
    ] as [(String, String?, String)])
  func mistakes(rule: String, scopes: String?, reason: String) throws {
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration()
    if let scopes { configuration["apple", "scopes"] = scopes }
    configuration.ending = "[[route]]\npath = \"/x/\"\n\(rule)\n"
    let file = try configuration.install(in: directory)
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    #expect(result.exit == .code(78), "\(result.standardOutput)")
    #expect((result.standardOutput + result.standardError).contains(reason), "\(result.standardError)")
  }
}
