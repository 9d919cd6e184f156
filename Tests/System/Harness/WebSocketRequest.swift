/// Requests for a WebSocket (RFC 6455, 4.1).
extension TCPConnection {
  /// Asks for a WebSocket, without reading the answer.
  /// - Parameters:
  ///   - authority: the value of `Host`.
  ///   - fields: more lines of the header, as `Origin: …` and `Cookie: …`.
  func askForWebSocket(_ authority: String, target: String = "/socket", fields: [String] = []) throws {
    let lines =
      [
        "GET \(target) HTTP/1.1", "Host: \(authority)", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
      ] + fields
    try send(lines.joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Opens a WebSocket: what follows the head of the answer is not read.
  func openWebSocket(_ authority: String, target: String = "/socket", fields: [String] = []) throws {
    try askForWebSocket(authority, target: target, fields: fields)
    let head = try MessageHead(read(through: "\r\n\r\n"))
    guard head.startLine.hasPrefix("HTTP/1.1 101") else { throw HarnessError.malformed(head.startLine) }
  }
}

extension GatewayProcess {
  /// Opens a WebSocket with a visitor's cookies; the application has to accept it at `/socket`.
  func webSocket(of visitor: Visitor, _ site: Site, fields: [String] = []) throws -> TCPConnection {
    let connection = try connect()
    guard let cookie = try visitor.cookieHeader(for: site.origin + "/") else { throw HarnessError.missing("a cookie") }
    try connection.openWebSocket(
      site.gateway.client.authority, fields: ["Origin: \(site.origin)", "Cookie: \(cookie)"] + fields)
    return connection
  }
}
