import Foundation

// Several hosts of localhost at one gateway: `[[host]]`s beside `public_url`, told apart by `Host`.

extension GatewayConfiguration {
  /// Adds a `[[host]]` for each of these names of localhost, on the port of `public_url`.
  /// - Parameter lines: more of each table.
  mutating func addHosts(_ names: [String], lines: String = "") throws {
    let origin = (self["", "public_url"] ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    let port = try WebAddress(origin).port
    for name in names { ending += "[[host]]\nname = \"\(name).localhost:\(port)\"\n\(lines)" }
  }
}

extension Site {
  /// A gateway with the hosts `wiki` and `tickets`, before an application that echoes requests.
  static func withHosts(fakeClock: Bool = false, showsPage: Bool = false, ending: String = "") throws -> Site {
    try Site(fakeClock: fakeClock, upstream: EchoingApplication.answer) {
      $0["pages", "show_sign_in_page"] = "\(showsPage)"
      $0["admin", "token_file"] = "\"admin.token\""
      try? $0.addHosts(["wiki", "tickets"])
      $0.ending += ending
    }
  }

  /// The origin of a `[[host]]`.
  func origin(of name: String) -> String { "http://\(name).localhost:\(gateway.configuration.port)" }

  /// An address below the gateway's own prefix on a `[[host]]`.
  func own(_ path: String, on name: String) -> String { "\(origin(of: name))/.auth/\(path)" }

  /// A client of a `[[host]]`.
  func client(of name: String) -> HTTPClient {
    HTTPClient(port: gateway.configuration.port, authority: "\(name).localhost:\(gateway.configuration.port)")
  }

  /// Follows a hand-over up to its last step; answers the address with the one-time code, which was not opened.
  /// - Parameter visitor: signed in at `public_url`.
  func code(for visitor: Visitor, on name: String, returnTo: String = "/") throws -> String {
    try visitor.open(own("sign-in?return_to=\(FormEncoding.escape(returnTo))", on: name), following: false)
    guard let visit = visitor.page?.response.location else { throw HarnessError.missing("a visit to public_url") }
    let page = try visitor.open(visit, following: false)
    guard let arrival = page.response.location, arrival.hasPrefix(own("arrive?code=", on: name)) else {
      throw HarnessError.missing("a code; open is \(page.status) \(page.response.location ?? "") \(page.text)")
    }
    return arrival
  }
}

extension Visitor {
  /// The value of a cookie of one host.
  func cookie(_ name: String, of host: String) -> String? {
    jar.cookies.first { $0.name == name && $0.host == host }?.value
  }

  /// The session cookie of a `[[host]]` of localhost, as a request carries it.
  func session(on name: String) throws -> String {
    guard let value = cookie("__Host-cordon", of: "\(name).localhost") else {
      throw HarnessError.missing("a session on \(name)")
    }
    return "__Host-cordon=\(value)"
  }

  /// Opens the address that the last response redirects to, and no other.
  @discardableResult
  func followOnce() throws -> Page {
    guard let location = page?.response.location else { throw HarnessError.missing("a redirect") }
    return try follow(location, following: false)
  }

  /// Goes to Apple from the page that is open, and back.
  @discardableResult
  func continueAtApple(as user: String = "anna") throws -> Page {
    try decide(.proceed(user: user))
    return try carryBack()
  }
}
