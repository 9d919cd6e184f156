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
