import Secrets
import Testing

@testable import AppleIdentity

// What a native app hands over: read strictly, within bounds; a name in it is cleaned, nothing is believed.
@Suite("The request of a native app to sign in")
struct NativeSignInRequestTests {
  private func request(_ more: String = "") throws -> NativeSignInRequest {
    try NativeSignInRequest(json: #"{"identity_token":"a.b.c","authorization_code":"code","nonce":"n"\#(more)}"#.utf8)
  }

  @Test(
    "Token, code and nonce are read unchanged, the name from an object or its text, and unknown members are ignored")
  func good() throws {
    let bare = try request(#","state":[{}]"#)
    #expect(bare.identityToken.exposed == "a.b.c" && bare.code.exposed == "code" && bare.nonce == "n")
    #expect(bare.user == nil)
    let object = #"{"name":{"firstName":" Ada ","lastName":"Lovelace"},"email":"x@evil.example"}"#
    #expect(try request(#","user":"# + object).user?.name == "Ada Lovelace")
    let text = object.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: #"\""#)
    #expect(try request(#","user":""# + text + "\"").user?.name == "Ada Lovelace")
    #expect(try request(#","user":"no JSON""#).user == nil)
  }

  @Test("A native sign-in request shows nothing of its token and code when it is printed")
  func concealed() throws {
    let shown = "\(try request())"
    #expect(!shown.contains("a.b.c") && !shown.contains("\"code\""))
  }

  @Test(
    "A member that is missing, empty, no text, with spaces or too long is refused",
    arguments: ["identity_token", "authorization_code", "nonce"])
  func malformed(name: String) throws {
    let values = ["", " ", "a b", "a\u{E9}", String(repeating: "x", count: 20_000)].map { "\"\($0)\"" }
    for value in values + ["7", "null", "[]", "{}", "true", "1e300"] {
      let members = ["identity_token", "authorization_code", "nonce"].map {
        "\"\($0)\":\($0 == name ? value : "\"good\"")"
      }
      #expect(throws: NativeSignInError.self, "\(value.prefix(20))") {
        try NativeSignInRequest(json: "{\(members.joined(separator: ","))}".utf8)
      }
    }
  }

  @Test(
    "Each member of an app's request is accepted up to its limit, and no longer",
    arguments: [("identity_token", 16_384), ("authorization_code", 2_048), ("nonce", 512)])
  func limits(name: String, limit: Int) throws {
    func json(_ count: Int) -> String {
      let members = ["identity_token", "authorization_code", "nonce"].map {
        "\"\($0)\":\"\($0 == name ? String(repeating: "x", count: count) : "good")\""
      }
      return "{\(members.joined(separator: ","))}"
    }
    _ = try NativeSignInRequest(json: json(limit).utf8)
    #expect(throws: NativeSignInError.malformed(name)) { try NativeSignInRequest(json: json(limit + 1).utf8) }
  }

  @Test("Repeated members, other JSON, and texts beyond the bounds are refused")
  func unreadable() {
    let texts = [
      "", "[]", "\"x\"", "{", #"{"nonce":"a","nonce":"b"}"#, String(repeating: "[", count: 1_000),
      "{\"x\":\"" + String(repeating: "x", count: NativeSignInRequest.maximumBytes) + "\"}",
    ]
    for text in texts {
      #expect(throws: NativeSignInError.self, "\(text.prefix(20))") { try NativeSignInRequest(json: text.utf8) }
    }
  }
}
