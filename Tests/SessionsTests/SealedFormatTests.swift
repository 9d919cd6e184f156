import Foundation
import Secrets
import Testing
import WebFormats

@testable import Sessions

// Values that earlier builds made: cookies in browsers, refresh tokens in stores. Each was recorded once and never
// changes: a build that does not open one of them signs people out, or loses their refresh tokens. The same holds
// for the names under which stores keep bans, machine tokens and invitations: a build that makes other names lifts or
// ends all of them.

@Suite("Values sealed by earlier builds")
struct SealedFormatTests {
  private let identifier = SessionIdentifier(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)
  private let challenge = [UInt8](0..<32)

  @Test("The key of a secret keeps its identifier and its pseudonyms")
  func key() throws {
    let keys = try keyring("k")
    #expect(keys.currentKey.description == "6def04fc")
    #expect(keys.pseudonym(of: try #require(Subject("001234.ada.0987"))) == "6e2c90b51e66fcbc")
  }

  @Test("A recorded session cookie is made again byte for byte and still proves its session")
  func cookie() throws {
    let keys = try keyring("k")
    let recorded = "AW3vBPwBAgMEBQYHCAkKCwwNDg8Q9ylorOk5t0uxlcaNOoAmsva5d3Z3r7TVHt89TS0M1go"
    #expect(keys.signedCookie(for: identifier, on: .publicURL) == recorded)
    #expect(keys.verifyCookie(Array(recorded.utf8), on: .publicURL)?.identifier == identifier)
  }

  @Test("A recorded session cookie of a host is made again byte for byte and still proves its session there")
  func hostCookie() throws {
    let keys = try keyring("k")
    let recorded = "Am3vBPwBAgMEBQYHCAkKCwwNDg8QIZ7l0d1I11ie9BVcCwi8X7ZUmfdIOX1SDld9vKPLIwY"
    #expect(keys.signedCookie(for: identifier, on: .host("wiki.example.com")) == recorded)
    #expect(keys.verifyCookie(Array(recorded.utf8), on: .host("wiki.example.com"))?.identifier == identifier)
  }

  @Test("A recorded refresh token is still opened for its user and client")
  func refreshToken() throws {
    let recorded = """
      AW3vBPxmkSZcuo9HEnzOxrr8KLyGk_MNqh5_gSa0jHcWi7FBVA2LHO3gnJslvMPyu8vk3GwmHJCh1LUqt6ANvvYmFB8c
      """
    let bytes = try #require(Base64URL.decode(Array(recorded.utf8)))
    let token = try #require(EncryptedToken(bytes: bytes))
    let opened = try keyring("k").open(
      token, of: #require(Subject("001234.ada.0987")), clientID: "com.example.web")
    #expect(opened == RefreshToken("r.token.of.apple"))
  }

  @Test("A recorded sign-in state is still opened under its name")
  func signInState() throws {
    let recorded =
      "AW3vBPwsExJJaQ6TOWiAFebV86DlhLVBALZp-v-qY5J0OHIRkeOeTb6bljNatF1nhp6VfMTIdOiUnpuFfvyQ"
    let opened = try keyring("k").openText(
      Array(recorded.utf8), for: .attempt, context: Array("name".utf8), now: noon)
    #expect(opened == Array("an attempt".utf8))
  }

  @Test("A recorded one-time code of an app is still opened")
  func appReturn() throws {
    let recorded = """
      AW3vBPxew0nvjmu6ur4-ljBzW5pmVZPHBrXN-RWyhRyAAFbYNOSLAwINEv-cJHSN-bVe5ZtCfUIhJjY8CcSlGi9a4V3mwn_ldMNus2yZNTqhd_NTC6\
      -7V91D9laWlWvZyB72YKk
      """
    let opened = try keyring("k").openAppReturn(Array(recorded.utf8), now: noon)
    #expect(opened == AppReturn(identifier, challenge: challenge))
  }

  @Test("A recorded visit from another host is still opened, and so is the code of its arrival")
  func visit() throws {
    let visit = HostVisit(
      host: "wiki.example.com", secret: "the secret".utf8, returnTo: "/page?a=b", maxAge: 3_600, began: noon)
    let recordedVisit = """
      AW3vBPxzc3Nzc3Nzc3Nzc3Nubm5ubm5ubm5ubm7CI_eKAjHqoKss6FgbJkti27FE2PyMF_gDpuuXNYyL_uR8uL-szZyqYyamZq7QxKT84ZynvQ\
      U5ehZ0wnSXNXbnlsdFbccFc1xeDgX1WexQeZuBemM_aUtpwaM3ZORQDQuH4Ak
      """
    #expect(try keyring("k").openVisit(Array(recordedVisit.utf8)) == visit)
    let recordedCode = """
      AW3vBPxzc3Nzc3Nzc3Nzc3Nubm5ubm5ubm5ubm5YV2QNaPqirHocC4JYWZL83tDgLsY9pYLjnWF_RDbme4i8lPT_qkT838gnf1qWGG8yNDl9ZM\
      YtHOpAGiYwJP1aaozdg32ndcXshyFo9SxoRFJslhpN1UxNd0QP2ayuDoWF-kcSp-w-RgW0lg
      """
    let arrival = HostArrival(of: identifier, by: visit, now: noon)
    #expect(try keyring("k").openArrival(Array(recordedCode.utf8)) == arrival)
  }

  @Test("The mark and the codes of an account in cookies are those of earlier builds")
  func accountCookies() throws {
    let keys = try keyring("k")
    let ada = try #require(Subject("001234.ada.0987"))
    #expect(keys.accountMark(of: ada) == "gtu6wpvZJQBpGVVwMS8R_A")
    #expect(keys.accountCodes(of: ada, for: "PHPSESSID") == ["ATjA7Xxz0rqK1WY4"])
    #expect(keys.accountCodes(of: nil, for: "PHPSESSID") == ["XCs4c0W9qBws5oF2"])
  }

  @Test("The names of bans and of invitations' guests are those of earlier builds")
  func bans() throws {
    let key = try #require(StoreKey(bytes: Array(repeating: UInt8(ascii: "k"), count: StoreKey.byteCount)))
    let ada = try #require(Subject("001234.ada.0987"))
    #expect(
      Hex.text(key.banHash(of: ada)) == "b53d6318eb27e8d2bb8659699112fa5730cda9ee24928d95620a25d024d858bb")
    #expect(key.guestName(of: ada) == "RHrNej80TIigWv_Rn1XdbWkZB3TihGLCAesUPFNNbeM")
  }

  @Test("A recorded machine token is still good, and keeps its public name")
  func machineToken() throws {
    let key = try #require(StoreKey(bytes: Array(repeating: UInt8(ascii: "k"), count: StoreKey.byteCount)))
    let handle = MachineTokenText.verify("cdn_AAECAwQFBgcICQoLDA0OD9f3Ee1VxJI2lbdP4Q27kr8".utf8, key)
    #expect(handle?.text == "qAtoKpOBA1OeKOpc5vE7eQ")
  }

  @Test("The code of a recorded invitation is kept under the same hash")
  func invitation() throws {
    let code = try #require(InvitationCode("AAECAwQFBgcICQoLDA0ODw"))
    #expect(Hex.text(code.hash) == "8040a513bf50f5a357f109fca67baba7492e3fde300d312f2ab4e288d4ef5d34")
  }
}
