import Foundation
import TemporaryDirectoryTesting

/// The simulated Apple, running; and its control API (examples/apple-simulator/README.md).
@SystemActor
final class SimulatorProcess {
  let process: ServerProcess
  let port: UInt16
  private let directory: TemporaryDirectory

  /// Starts a simulator that knows the tests' client, whose browsers come back to `redirectURI`.
  init(redirectURI: String) throws {
    port = try FreePort.take()
    directory = try TemporaryDirectory()
    let key = try directory.write(AppleKey.shared.get().publicPEM, to: "key.pem")
    process = try ServerProcess(
      Machine.binary("apple-simulator"),
      [
        "--port", "\(port)", "--public-key-file", key, "--redirect-uri", redirectURI,
        "--client-id", GatewayConfiguration.clientID, "--team-id", GatewayConfiguration.teamID,
        "--key-id", GatewayConfiguration.keyID,
      ] + GatewayConfiguration.appIDs.flatMap { ["--native-client-id", $0] })
    try process.waitForLine(containing: "apple-simulator ready")
  }

  var baseURL: String { "http://127.0.0.1:\(port)" }
  var control: HTTPClient { HTTPClient(port: port) }

  func stop() { process.stop() }

  // MARK: Orders

  /// The next sign-ins are decided without a page; nil cancels them.
  func answer(as user: String?, hideEmail: Bool = false) throws {
    try order("PUT", "answer", user.map { ["user": $0, "hide_email": hideEmail] } ?? [:])
  }

  /// Sign-ins show the page again.
  func showPage() throws { try order("DELETE", "answer") }

  /// Trouble, as the README names it.
  func fault(_ endpoint: String, _ kind: String, _ more: [String: Any] = [:]) throws {
    try order("POST", "faults", ["endpoint": endpoint, "kind": kind].merging(more) { $1 })
  }

  /// Sets what the next response at `place` contains instead.
  func tamper(_ place: String, token: [String: Any]? = nil, fields: [String: Any]? = nil) throws {
    var body: [String: Any] = ["place": place]
    body["token"] = token
    body["fields"] = fields
    try order("POST", "tamper", body)
  }

  /// Removes all faults and tampering.
  func behave() throws {
    try order("DELETE", "faults")
    try order("DELETE", "tamper")
  }

  func switches(_ switches: [String: Any]) throws { try order("POST", "switches", switches) }
  func add(user: [String: Any]) throws { try order("PUT", "users", user) }
  func revoke(_ user: String) throws { try order("POST", "users/\(user)/revoke", [:]) }

  /// Moves its clock to `seconds` after the true time.
  func setClock(secondsAhead seconds: Double) throws {
    try order("POST", "clock", ["reset": true, "advance_seconds": seconds])
  }

  func rotateKeys(dropOld: Bool) throws { try order("POST", "keys/rotate", ["drop_old": dropOld]) }

  /// Returns the result that an iPhone passes to an app: Apple's sheet, answered by a user. `nonce` is what the app
  /// gave to Apple.
  func authorizeNatively(
    _ user: String, app: String = GatewayConfiguration.appIDs[0], nonce: String, hideEmail: Bool = false
  ) throws -> (identityToken: String, code: String, user: String?) {
    let order: [String: Any] = ["client_id": app, "user": user, "nonce": nonce, "hide_email": hideEmail]
    let response = try control.post("/simulator/native", json: order)
    let answer = try response.json()
    guard let token = answer["identity_token"] as? String, let code = answer["authorization_code"] as? String else {
      throw HarnessError.malformed(response.text)
    }
    return (token, code, answer["user"] as? String)
  }

  /// An identity token as `order` says.
  func mint(_ order: [String: Any]) throws -> String {
    let response = try control.post("/simulator/mint", json: order)
    guard let token = try response.json()["token"] as? String else { throw HarnessError.malformed(response.text) }
    return token
  }

  /// Acts on users are notified there from now on; what is not answered 200 is posted again after `retryAfter` seconds,
  /// then after twice that.
  func notify(_ url: String, retryAfter: Double = 1) throws {
    try switches(["notification_retries": 12, "notification_retry_seconds": retryAfter])
    try order("PUT", "notification-url", ["url": url])
  }

  /// Moves the tests' client to another team, with the tests' key under another name.
  func transfer(toTeam team: String, keyID: String) throws {
    try order(
      "POST", "clients/\(GatewayConfiguration.clientID)/transfer",
      ["team_id": team, "keys": [keyID: AppleKey.shared.get().publicPEM]])
  }

  // MARK: Recorded requests

  /// A notification that was posted, perhaps more than once.
  struct Delivery {
    /// The responses to the attempts; nil for none.
    let statuses: [Int?]
    let isDelivered: Bool
  }

  func deliveries() throws -> [Delivery] {
    let object = try control.get("/simulator/notifications").json()
    return (object["notifications"] as? [[String: Any]] ?? []).map {
      Delivery(
        statuses: ($0["attempts"] as? [[String: Any]] ?? []).map { $0["status"] as? Int },
        isDelivered: $0["delivered"] as? Bool ?? false)
    }
  }

  struct SeenRequest {
    let path: String
    let form: [String: String]
    let query: [String: String]
    let status: Int?
    let reason: String?
  }

  /// Every request at an endpoint of Apple's, in order.
  func requests(at path: String) throws -> [SeenRequest] {
    let object = try control.get("/simulator/requests?path=\(path)").json()
    return (object["requests"] as? [[String: Any]] ?? []).map {
      SeenRequest(
        path: $0["path"] as? String ?? "", form: $0["form"] as? [String: String] ?? [:],
        query: $0["query"] as? [String: String] ?? [:], status: $0["status"] as? Int, reason: $0["reason"] as? String)
    }
  }

  /// Requests to the token endpoint with this `grant_type`.
  func tokenRequests(_ grant: String) throws -> [SeenRequest] {
    try requests(at: "/auth/token").filter { $0.form["grant_type"] == grant }
  }

  func forgetRequests() throws { try order("DELETE", "requests") }

  /// The number of verifications of an account: `kind` is `sign_in` or `refresh`.
  func checks(of user: String, kind: String) throws -> Int {
    let object = try control.get("/simulator/checks").json()
    let checks = (object["checks"] as? [String: [[String: Any]]])?[user] ?? []
    return checks.filter { $0["kind"] as? String == kind }.count
  }

  /// The `sub` that the tests' team knows a user by.
  func subject(of user: String, team: String = GatewayConfiguration.teamID) throws -> String {
    let users = try control.get("/simulator/users").json()["users"] as? [[String: Any]] ?? []
    guard let found = users.first(where: { $0["id"] as? String == user }),
      let subject = (found["subjects"] as? [String: String])?[team]
    else { throw HarnessError.missing("user \(user) at the simulator") }
    return subject
  }

  private func order(_ method: String, _ path: String, _ body: [String: Any]? = nil) throws {
    let bytes = try body.map { Array(try JSONSerialization.data(withJSONObject: $0)) }
    let response = try control.send(
      method, "/simulator/\(path)", fields: [("Content-Type", "application/json")], body: bytes)
    guard (200..<300).contains(response.status) else {
      throw HarnessError.malformed("order \(method) \(path): \(response.status) \(response.text)")
    }
  }
}

/// The example application: a time sheet in Python, as a legacy shop has it.
@SystemActor
final class PythonAppProcess {
  let process: ServerProcess
  let port: UInt16

  init() throws {
    let port = try FreePort.take()
    self.port = port
    process = try ServerProcess(
      Machine.program("python3", package: "python3"),
      [Machine.packageRoot.appending(path: "examples/legacy-wsgi/app.py").path, "\(port)"])
    try process.waitUntilReady("the example application answers") {
      try HTTPClient(port: port).get("/public/").status == 200
    }
  }

  func stop() { process.stop() }
}
