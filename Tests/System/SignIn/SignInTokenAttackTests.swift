import Foundation
import Testing

// Signing in, attacked with tokens.
//
// - Tokens that Apple did not make, or not for this attempt: no session, from the browser or from the token endpoint.
// - Unknown keys do not make the gateway hammer Apple, and nobody is asked for the keys that a token names.
// After each attack the same process lives, and an honest user signs in.

@SystemActor
@Suite("Forged tokens", .serialized, .site)
struct SignInTokenAttackTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.behave()
  }

  /// Identity tokens that must not let anybody in. As JSON, because test arguments are values.
  private nonisolated static let badTokens = [
    #"{"signature": "none"}"#,
    #"{"signature": "hs256-public-key"}"#,
    #"{"signature": "hs256", "secret": "0123456789abcdef0123456789abcdef"}"#,
    #"{"signature": "es256"}"#,
    #"{"signature": "corrupt"}"#,
    #"{"signature": "wrong-key"}"#,
    #"{"signature": "wrong-key", "header": {"jku": "http://127.0.0.1:9/keys"}}"#,
    #"{"signature": "wrong-key", "header": {"jwk": {"kty": "oct", "k": "AAAA"}, "x5u": "http://127.0.0.1:9/"}}"#,
    #"{"header": {"alg": "none"}}"#,
    #"{"header": {"alg": "HS256"}}"#,
    #"{"header": {"alg": null}}"#,
    #"{"header": {"kid": null}}"#,
    #"{"header": {"kid": "../../../etc/passwd"}}"#,
    #"{"header": {"crit": ["exp"], "exp": 1}}"#,
    #"{"header": {"crit": ["urn:example:unknown"], "urn:example:unknown": true}}"#,
    #"{"claims": {"iss": "https://appleid.apple.com.evil.example"}}"#,
    #"{"claims": {"iss": null}}"#,
    #"{"claims": {"aud": "com.example.other"}}"#,
    #"{"claims": {"aud": "COM.EXAMPLE.WEB"}}"#,
    #"{"claims": {"aud": null}}"#,
    #"{"claims": {"aud": []}}"#,
    #"{"claims": {"exp": 1000000000}}"#,
    #"{"claims": {"exp": "123"}}"#,
    #"{"claims": {"exp": null}}"#,
    #"{"claims": {"exp": -1}}"#,
    #"{"claims": {"exp": {"a": 1}}}"#,
    #"{"claims": {"iat": 4102444800}}"#,
    #"{"claims": {"iat": "now"}}"#,
    #"{"claims": {"nonce": "another"}}"#,
    #"{"claims": {"nonce": ""}}"#,
    #"{"claims": {"nonce": null}}"#,
    #"{"claims": {"nonce": ["a"]}}"#,
    #"{"claims": {"sub": null}}"#,
    #"{"claims": {"sub": ""}}"#,
    #"{"claims": {"sub": 7}}"#,
    #"{"claims": {"sub": "000000.somebody.else"}}"#,
    #"{"payload": "[]"}"#,
    #"{"payload": "not json"}"#,
    #"{"payload": ""}"#,
  ]

  private func tamper(_ place: String, _ order: String) throws {
    let object = try JSONSerialization.jsonObject(with: Data(order.utf8))
    try site.apple.tamper(place, token: try #require(object as? [String: Any]))
  }

  @Test("A token that the browser brings and Apple did not make for it lets nobody in", arguments: badTokens)
  func badTokenFromBrowser(order: String) throws {
    try site.surviving {
      try tamper("authorize", order)
      let visitor = try site.beforeCallback()
      let page = try visitor.carryBack()
      #expect((400..<600).contains(page.status))
      #expect(visitor.jar["__Host-cordon"] == nil)
      #expect(try visitor.fetch(site.own("session")).status == 401)
    }
  }

  @Test("A token from the token endpoint that is not for this attempt lets nobody in", arguments: badTokens)
  func badTokenFromEndpoint(order: String) throws {
    try site.surviving {
      let visitor = try site.beforeCallback()
      try tamper("token", order)
      let page = try visitor.carryBack()
      #expect((400..<600).contains(page.status))
      #expect(visitor.jar["__Host-cordon"] == nil)
      #expect(try visitor.fetch(site.own("session")).status == 401)
    }
  }

  @Test("A rejected token is logged with the request ID of the user's error page")
  func requestOfRejection() throws {
    try site.surviving {
      try tamper("authorize", #"{"signature": "wrong-key"}"#)
      let page = try site.beforeCallback().carryBack()
      let requestID = try #require(page.response.fields["X-Request-Id"])
      #expect(page.text.contains(requestID))
      try site.gateway.waitForLogLine("identity token rejected", requestID)
    }
  }

  @Test("Nobody is asked for the keys that a token itself names")
  func keysOfTheToken() throws {
    let keys = try RawUpstream()
    defer { keys.stop() }
    let address = "http://127.0.0.1:\(keys.port)/keys"
    try site.surviving {
      for place in ["authorize", "token"] {
        for field in ["jku", "x5u"] {
          let order = #"{"signature": "wrong-key", "header": {"\#(field)": "\#(address)"}}"#
          // What the browser brings is made when Apple is asked, the other one when the code comes.
          if place == "authorize" { try tamper(place, order) }
          let visitor = try site.beforeCallback()
          if place == "token" { try tamper(place, order) }
          #expect(try visitor.carryBack().status >= 400)
          #expect(visitor.jar["__Host-cordon"] == nil)
        }
      }
    }
    #expect(keys.connectionCount == 0)
  }

  @Test("Times of 1e300 trap nothing: a token that has one as exp or iat is refused, and auth_time is not interpreted")
  func enormousNumbers() throws {
    for claim in ["exp", "iat", "auth_time"] {
      try site.surviving {
        try tamper("authorize", #"{"claims": {"\#(claim)": 1e300}}"#)
        let visitor = try site.beforeCallback()
        let page = try visitor.carryBack()
        let isSignedIn = visitor.jar["__Host-cordon"] != nil
        #expect(isSignedIn == (claim == "auth_time"), "\(claim): \(page.status)")
      }
    }
    _ = try site.signedIn()
  }

  @Test("Tokens under unknown keys make the gateway ask Apple for keys once, not each time")
  func unknownKeys() throws {
    try site.surviving {
      _ = try site.signedIn()
      let before = try site.apple.requests(at: "/auth/keys").count
      for _ in 0..<15 {
        try tamper("authorize", #"{"signature": "unknown-key"}"#)
        let visitor = try site.beforeCallback()
        #expect(try visitor.carryBack().status >= 400)
        #expect(visitor.jar["__Host-cordon"] == nil)
      }
      #expect(try site.apple.requests(at: "/auth/keys").count - before <= 1)
      _ = try site.signedIn()
    }
  }

  @Test("A token or a code of another attempt does not fit this one", arguments: ["id_token", "code"])
  func exchangedParts(field: String) throws {
    try site.surviving {
      let other = try site.beforeCallback(as: "ben")
      let visitor = try site.beforeCallback(as: "anna")
      let foreign = try #require(other.answerForm().inputs.first { $0.0 == field }?.1)
      let exchanges = try site.apple.tokenRequests("authorization_code").count
      let page = try visitor.carryBack(visitor.answerForm().filling([field: foreign]))
      #expect(page.status >= 400)
      #expect(try site.apple.tokenRequests("authorization_code").count == exchanges, "the code is not sent")
      #expect(visitor.jar["__Host-cordon"] == nil)
    }
  }
}
