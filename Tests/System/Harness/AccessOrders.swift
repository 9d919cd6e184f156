import Foundation

/// Orders to the admin listener about who may come in.
extension GatewayProcess {
  /// Sends an order; the gateway must carry it out.
  func order(_ method: String, _ target: String, _ body: [String: Any] = [:]) throws {
    let fields = [
      ("Authorization", "Bearer \(GatewayConfiguration.adminToken)"), ("Content-Type", "application/json"),
    ]
    let json = method == "DELETE" ? nil : Array(try JSONSerialization.data(withJSONObject: body))
    let response = try admin.send(method, target, fields: fields, body: json)
    guard (200..<300).contains(response.status) else {
      throw HarnessError.malformed("\(method) \(target): \(response.status) \(response.text)")
    }
  }

  /// Opens a WebSocket with a visitor's cookies; the application behind has to be `EchoingApplication`.
  func webSocket(of visitor: Visitor, _ site: Site, fields: [String] = []) throws -> TCPConnection {
    let connection = try connect()
    guard let cookie = try visitor.cookieHeader(for: site.origin + "/") else { throw HarnessError.missing("a cookie") }
    let lines =
      [
        "GET /socket HTTP/1.1", "Host: \(site.gateway.client.authority)", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "Origin: \(site.origin)",
        "Cookie: \(cookie)",
      ] + fields
    try connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    let head = try MessageHead(connection.read(through: "\r\n\r\n"))
    guard head.startLine.hasPrefix("HTTP/1.1 101") else { throw HarnessError.malformed(head.startLine) }
    return connection
  }
}

extension Site {
  /// The path of a user's membership in a group on the admin listener.
  func member(_ user: String, of group: String) throws -> String {
    "/groups/\(group)/members/\(try apple.subject(of: user))"
  }

  /// The path of a user's ban on the admin listener.
  func ban(of user: String) throws -> String { "/accounts/\(try apple.subject(of: user))/ban" }
}

/// An application that answers with the request's head, and accepts WebSockets.
enum EchoingApplication {
  static let answer: RawUpstream.RequestHandler = { request, connection in
    if request.target == "/socket" { return try StreamingApplication.answer(request, connection) }
    try connection.send(RawUpstream.response(body: request.headText))
  }
}
