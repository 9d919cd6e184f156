import Foundation
import Testing

@testable import Sessions

@Suite("Identity headers")
struct IdentityHeadersTests {
  private func render(
    _ account: Account, _ session: Session, claims: [String] = ["sub", "email", "name"],
    _ change: (inout IdentityHeaderSettings) -> Void = { _ in }
  ) -> [String] {
    var settings = IdentityHeaderSettings()
    settings.headers = claims.map { .init(name: "X-\($0)", claim: $0) }
    change(&settings)
    return IdentityHeaders.render(account: account, session: session, settings: settings).map {
      "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))"
    }
  }

  @Test("Each configured header carries its claim, in the order of the configuration")
  func rendersClaims() throws {
    var claims = AccountClaims()
    claims.email = "ada@example.com"
    claims.emailVerified = true
    claims.isPrivateEmail = false
    claims.realUserStatus = 2
    claims.organizationID = "org"
    claims.scopes = ["a", "b"]
    claims.transferSubject = "next"
    claims.other = ["auth_time": .integer(5), "x": .truth(true), "y": .text("t"), "z": .decimal(0.5)]
    let account = try makeAccount(claims: claims)
    let session = try makeSession()
    let names = [
      "z", "y", "x", "auth_time", "transfer_sub", "scopes", "org_id", "real_user_status", "is_private_email",
      "email_verified", "email", "session_id", "family_name", "given_name", "name", "sub", "missing",
    ]
    #expect(
      render(account, session, claims: names) == [
        "X-z=0.5", "X-y=t", "X-x=true", "X-auth_time=5", "X-transfer_sub=next", "X-scopes=a b", "X-org_id=org",
        "X-real_user_status=2", "X-is_private_email=false", "X-email_verified=true", "X-email=ada@example.com",
        "X-session_id=\(session.handle.text)", "X-family_name=Lovelace", "X-given_name=Ada", "X-name=Ada Lovelace",
        "X-sub=001234.ada.0987",
      ])
  }

  @Test("An empty or absent claim is not a header")
  func leavesEmptyOut() throws {
    var claims = AccountClaims()
    claims.email = ""
    claims.emailVerified = true
    claims.scopes = []
    claims.other = ["empty": .text("")]
    let account = try makeAccount(name: nil, claims: claims)
    #expect(render(account, try makeSession(), claims: ["email", "scopes", "empty", "name", "nothing"]) == [])
  }

  @Test(
    "An address with control characters is not a header",
    arguments: [
      "a@x.example\r\nX-Admin: 1", "a@x.example\n", "a\u{0}@x.example", "a@x.example\u{85}b", "a@x.example\u{2028}b",
    ])
  func controlCharacters(email: String) throws {
    var claims = AccountClaims()
    claims.email = email
    claims.emailVerified = true
    for encoding in IdentityHeaderSettings.Encoding.allCases {
      #expect(
        render(try makeAccount(claims: claims), try makeSession(), claims: ["email"]) { $0.encoding = encoding } == [])
    }
  }

  @Test("An address that Apple has not verified is not a header, unless configured")
  func wantsVerifiedEmail() throws {
    var claims = AccountClaims()
    claims.email = "ada@example.com"
    for verified in [nil, false] as [Bool?] {
      claims.emailVerified = verified
      let account = try makeAccount(claims: claims)
      #expect(render(account, try makeSession(), claims: ["email"]) == [])
      #expect(
        render(account, try makeSession(), claims: ["email"]) { $0.allowUnverifiedEmail = true }
          == ["X-email=ada@example.com"])
    }
  }

  @Test(
    "Text outside printable ASCII, and %, is percent-encoded, or travels as UTF-8 without control characters",
    arguments: [
      ("plain ~!\"", "plain ~!\"", "plain ~!\""), ("100%", "100%25", "100%"), ("Zoë", "Zo%C3%AB", "Zoë"),
      ("👩‍🚀", "%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80", "👩‍🚀"), ("a\r\nX: y", "a%0D%0AX: y", "a%0D%0AX: y"),
      ("\u{0}\t\u{7F}", "%00%09%7F", "%00%09%7F"), ("a\u{85}b", "a%C2%85b", "a%C2%85b"),
      (" a b ", "%20a b%20", "%20a b%20"),
      ("\u{A0}", "%C2%A0", "\u{A0}"), (" ", "%20", "%20"), ("", "", ""),
    ])
  func encodes(text: String, percent: String, utf8: String) {
    #expect(IdentityHeaders.encoded(text, .percent) == Array(percent.utf8))
    #expect(IdentityHeaders.encoded(text, .utf8) == Array(utf8.utf8))
  }

  @Test("For any text, no value holds a control character, and percent-encoding decodes to the text again")
  func neverHoldsControlCharacters() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let scalars = (0..<20).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0...0x2FF, using: &generator)) }
      let text = String(String.UnicodeScalarView(scalars))
      for encoding in IdentityHeaderSettings.Encoding.allCases {
        let value = IdentityHeaders.encoded(text, encoding)
        #expect(!value.contains { $0 < 0x20 || $0 == 0x7F })
        if encoding == .percent {
          #expect(value.allSatisfy { $0 < 0x7F })
          let decoded = String(decoding: value, as: UTF8.self).removingPercentEncoding
          #expect(decoded.map { Array($0.utf8) } == Array(text.utf8))
        }
      }
    }
  }
}
