import HTTPTypes
import Sessions
import Testing
import WebFormats

@testable import DataPlane
@testable import Gateway
@testable import HTTPWire

// The recognition of machine tokens in `Authorization` fields, from well-formed ones to hostile ones.
@Suite("Machine tokens in Authorization fields")
struct MachineTokenFieldTests {
  private static let key = StoreKey.random()
  private static let token = MachineTokenText.random(key).text

  private enum Found: Equatable { case absent, token, malformed }

  private func find(_ value: [UInt8]) -> Found {
    switch MachineTokenField.read(value.span.bytes, value.indices) {
    case .absent: .absent
    case .token(let text): text.array == Array(Self.token.utf8) ? .token : .malformed
    case .malformed: .malformed
    }
  }

  private func find(_ value: String) -> Found { find(Array(value.utf8)) }

  private static func basic(_ text: String) -> String {
    "Basic " + String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self)
  }

  @Test("A token is found after Bearer and as the password of token, in any case of the scheme")
  func wellFormed() {
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] { #expect(find("\(scheme) \(Self.token)") == .token) }
    #expect(find("Bearer   \(Self.token)") == .token, "RFC 9110, 11.4 allows several spaces")
    let basic = Self.basic("token:\(Self.token)")
    for scheme in ["Basic", "basic", "BASIC"] { #expect(find(scheme + basic.dropFirst(5)) == .token) }
    #expect(basic.hasSuffix("="))
    #expect(find(String(basic.dropLast())) == .token, "some clients leave the padding out")
  }

  @Test("Credentials that are not ours are left to the session and the application")
  func others() {
    for value in [
      "", "Bearer", "Bearer ", "Basic", "Basic ", "Basic !!!", "Basic AAAA", "Bearer abc", "Digest username=\"cdn_\"",
      "Bearer xcdn_\(Self.token.dropFirst(4))", "Token cdn_short", "cdn", Self.basic("anna:secret"),
      Self.basic("token:secret"), Self.basic("token:"), Self.basic("token"), Self.basic(":"), Self.basic("anna:cdn_x"),
      Self.basic("cdn_x"), "Bearer CDN_\(Self.token.dropFirst(4))", "Negotiate YII=",
      "Bearer eyJhbGciOiJub25lIn0.e30.", Self.basic(String(repeating: "a", count: 6_000)),
    ] {
      #expect(find(value) == .absent, "\(value)")
    }
  }

  @Test("A token in a wrong form is recognized, so that it is refused and never forwarded")
  func malformed() {
    let token = Self.token
    for value in [
      token, "Bearer \(token)x", "Bearer \(token.dropLast())", "Bearer cdn_", "Bearer\t\(token)", "Bearer: \(token)",
      "Bearer \"\(token)\"", "Bearer=\(token)", "Bearer \(token), Bearer \(token)", "Bearer \(token) x",
      "Bearer \(token)\u{0}", "Token \(token)", "Digest \(token)", "Bearer,\(token)", "\"\(token)\"",
      "Bearer cdn_" + String(repeating: "A", count: 8_192), Self.basic("token:\(token)x"),
      Self.basic("token:\(token.dropLast())"), Self.basic("token:cdn_"), Self.basic("token:\(token):"),
      Self.basic("token:\(token)\u{0}"), Self.basic("token::\(token)"), Self.basic("Token:\(token)"),
      Self.basic("\(token)"), Self.basic("\(token):"), Self.basic("\(token):x-oauth-basic"), Self.basic(":\(token)"),
      Self.basic("anna:\(token)"), Self.basic("token:\(token)" + String(repeating: "A", count: 6_000)),
      Self.basic("token:\(token)") + "=", Self.basic("token:\(token)") + "!",
      String(Self.basic("token:\(token)").dropLast(2)), String(Self.basic("token:\(token)").dropLast()) + "==",
      Self.basic("token:\(token)") + " x", "Basic \(token)", "Basic token:\(token)",
    ] {
      #expect(find(value) == .malformed, "\(value.prefix(80))")
    }
  }

  @Test("No byte string of any length makes the reading of a field trap", arguments: 0..<64)
  func anyBytes(seed: Int) {
    var generator = SystemRandomNumberGenerator()
    let starts = ["Bearer cdn_", "Basic dG9rZW46Y2RuX", "Basic ", "Bearer ", "cdn_", ""]
    for start in starts {
      let random = (0..<seed * seed).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let found = find(Array(start.utf8) + random)
      #expect(found != .token)
      if start == "Bearer cdn_" { #expect(found == .malformed) }
    }
  }

  @Test("Of several Authorization fields with a token among them none counts; without one they are nobody's business")
  func several() {
    func request(_ values: String...) -> ControlRequest {
      var fields = HTTPFields()
      for value in values { fields.append(HTTPField(name: .authorization, value: value)) }
      return ControlRequest(
        head: HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/", headerFields: fields),
        client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")
    }
    let bearer = "Bearer \(Self.token)"
    for (values, isMalformed) in [
      ([bearer, bearer], true), ([bearer, "Basic YTpi"], true), (["Basic YTpi", bearer], true),
      (["Basic YTpi", "Bearer x"], false),
    ] {
      let found = MachineTokenField.find(values.count == 2 ? request(values[0], values[1]) : request(values[0]))
      switch found {
      case .malformed: #expect(isMalformed, "\(values)")
      case .absent: #expect(!isMalformed, "\(values)")
      case .token: Issue.record("one of several counted: \(values)")
      }
    }
    guard case .token = MachineTokenField.find(request(bearer)) else {
      Issue.record("the only one does not count")
      return
    }
  }

  @Test("A token that another store made, or of which one bit differs, is nobody's")
  func forged() {
    let other = MachineTokenText.random(.random()).text
    #expect(MachineTokenText.verify(Array(other.utf8), Self.key) == nil)
    let token = Array(Self.token.utf8)
    #expect(MachineTokenText.verify(token, Self.key) != nil)
    for index in 4..<token.count {
      var changed = token
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(MachineTokenText.verify(changed, Self.key) == nil, "\(index)")
    }
  }
}
