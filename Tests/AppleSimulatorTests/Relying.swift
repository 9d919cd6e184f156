import AppleSimulator
import Foundation
import FoundationNetworking
import JWTKit
import Testing

/// A relying party for the tests: it knows a running simulator, and holds the client's key.
struct Relying: Sendable {
  static let clientID = "com.example.web"
  static let nativeID = "com.example.app"
  static let teamID = "DEF123GHIJ"
  static let keyID = "ABC123DEFG"
  static let redirectURI = "https://app.example.com/.auth/callback"

  let address: String
  let key: ClientKey

  /// Runs a test against a simulator of its own.
  static func withSimulator(
    switches: SimulatorSwitches = SimulatorSwitches(), _ body: @escaping @Sendable (Relying) async throws -> Void
  ) async throws {
    let key = ClientKey()
    var configuration = SimulatorConfiguration(switches: switches)
    configuration.clients = [
      SimulatedClient(
        clientID: clientID, teamID: teamID, keys: [keyID: key.publicKeyPEM],
        redirectURIs: [redirectURI, "https://other.example.com/callback"]),
      SimulatedClient(clientID: nativeID, kind: .native, teamID: teamID, keys: [keyID: key.publicKeyPEM]),
    ]
    try await AppleSimulator(configuration: configuration).whileRunning { address in
      try await body(Relying(address: address, key: key))
    }
  }

  // MARK: Plain HTTP

  struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }
    var isJSON: Bool { (try? JSONDecoder().decode(JSONValue.self, from: body)) != nil }
    /// The members of a JSON object; none if it is something else.
    var json: [String: JSONValue] { (try? JSONDecoder().decode([String: JSONValue].self, from: body)) ?? [:] }
  }

  func send(
    _ method: String, _ path: String, body: String? = nil, type: String? = nil, headers: [String: String] = [:]
  ) async throws -> Answer {
    var request = URLRequest(url: try #require(URL(string: address + path)))
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    let http = try #require(response as? HTTPURLResponse)
    let fields = http.allHeaderFields.map { ("\($0.key)".lowercased(), "\($0.value)") }
    return Answer(status: http.statusCode, headers: Dictionary(fields) { first, _ in first }, body: data)
  }

  func get(_ path: String, _ query: [String: String] = [:]) async throws -> Answer {
    try await send("GET", query.isEmpty ? path : "\(path)?\(Self.encode(query))")
  }

  func post(_ path: String, _ form: [String: String], headers: [String: String] = [:]) async throws -> Answer {
    try await send(
      "POST", path, body: Self.encode(form), type: "application/x-www-form-urlencoded", headers: headers)
  }

  /// An order to the control API, which must be taken.
  @discardableResult
  func order(_ method: String, _ path: String, _ json: String = "{}") async throws -> [String: JSONValue] {
    let answer = try await send(method, "/simulator/\(path)", body: json, type: "application/json")
    #expect((200..<300).contains(answer.status), "\(answer.text)")
    return answer.body.isEmpty ? [:] : answer.json
  }

  private static func encode(_ fields: [String: String]) -> String {
    let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."\u{7f}"))
    return fields.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
    }.joined(separator: "&")
  }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}

// MARK: Steps of a relying party

extension Relying {
  /// A good authorization request.
  static var request: [String: String] {
    [
      "client_id": clientID, "redirect_uri": redirectURI, "response_type": "code id_token",
      "response_mode": "form_post", "scope": "name email", "state": "a state", "nonce": "a nonce",
    ]
  }

  /// Opens the page and answers it.
  func decide(_ decision: [String: String], query: [String: String] = Self.request) async throws -> Answer {
    let page = try await get("/auth/authorize", query)
    #expect(page.status == 200)
    var form = decision
    let ticket: String = try #require(Self.hiddenFields(of: page.text)["request"])
    form["request"] = ticket
    if form["decision"] == nil { form["decision"] = "continue" }
    return try await post("/auth/authorize", form)
  }

  /// Signs in and gives the fields that the browser would post to the client.
  func signIn(
    _ user: String = "anna", query: [String: String] = Self.request, more: [String: String] = [:]
  ) async throws -> [String: String] {
    let answer = try await decide(more.merging(["user": user]) { given, _ in given }, query: query)
    #expect(answer.status == 200)
    return Self.hiddenFields(of: answer.text)
  }

  static func hiddenFields(of html: String) -> [String: String] {
    var fields: [String: String] = [:]
    for match in html.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/) {
      fields[String(match.1)] = String(match.2).replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
    }
    return fields
  }

  /// A client secret with whatever is given laid over good claims.
  func secret(
    clientID: String = Self.clientID, claims: [String: JSONValue] = [:], keyID: String = Self.keyID,
    key: ClientKey? = nil, lifetime: Double = 300
  ) async throws -> String {
    let now = Date().timeIntervalSince1970.rounded(.down)
    let payload = SecretPayload(
      members: [
        "iss": .string(Self.teamID), "sub": .string(clientID), "aud": "https://appleid.apple.com",
        "iat": .number(now - 5), "exp": .number(now + lifetime),
      ].merging(claims) { _, given in given }.filter { $0.value != .null })
    let keys = JWTKeyCollection()
    let pem = (key ?? self.key).privateKeyPEM
    await keys.add(ecdsa: try ES256PrivateKey(pem: pem), kid: JWKIdentifier(string: keyID))
    return try await keys.sign(payload, kid: JWKIdentifier(string: keyID))
  }

  /// A call of the token endpoint with a good client secret.
  func token(clientID: String = Self.clientID, _ form: [String: String]) async throws -> Answer {
    var form = form
    form["client_id"] = clientID
    if form["client_secret"] == nil { form["client_secret"] = try await secret(clientID: clientID) }
    return try await post("/auth/token", form)
  }

  func exchange(_ code: String?, more: [String: String] = [:]) async throws -> Answer {
    let form = ["grant_type": "authorization_code", "code": code ?? "", "redirect_uri": Self.redirectURI]
    return try await token(form.merging(more) { _, given in given })
  }

  func refresh(_ refreshToken: String, clientID: String = Self.clientID) async throws -> Answer {
    try await token(clientID: clientID, ["grant_type": "refresh_token", "refresh_token": refreshToken])
  }

  /// A refresh token of a user who has just signed in.
  func refreshToken(_ user: String = "anna") async throws -> String {
    let answer = try await exchange(try await signIn(user)["code"])
    return try #require(answer.json["refresh_token"]?.text)
  }

  /// The claims of a token whose signature the published keys verify.
  func verifiedClaims(_ token: String?) async throws -> [String: JSONValue] {
    let keys = JWTKeyCollection()
    try await keys.add(jwksJSON: try await get("/auth/keys").text)
    return try await keys.verify(try #require(token), as: SecretPayload.self).members
  }
}

/// Claims of any kind.
struct SecretPayload: JWTPayload {
  let members: [String: JSONValue]

  init(members: [String: JSONValue]) { self.members = members }

  init(from decoder: any Decoder) throws {
    members = try decoder.singleValueContainer().decode([String: JSONValue].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(members)
  }

  func verify(using algorithm: some JWTAlgorithm) async throws {}
}
