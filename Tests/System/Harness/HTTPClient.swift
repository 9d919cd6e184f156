import Foundation

/// A small HTTP/1.1 client: one request, one connection, no redirects followed, no cookies of its own.
struct HTTPClient: Sendable {
  let port: UInt16
  /// The value of `Host`.
  var authority: String

  init(port: UInt16, host: String = "127.0.0.1") {
    self.port = port
    authority = "\(host):\(port)"
  }

  /// For a server that is called by another's name.
  init(port: UInt16, authority: String) {
    self.port = port
    self.authority = authority
  }

  /// Sends a request and reads its response. `Host`, `Content-Length` (with a body) and `Connection: close` are added.
  func send(
    _ method: String, _ target: String, fields: [(String, String)] = [], body: [UInt8]? = nil,
    by deadline: Deadline = .standard
  ) throws -> HTTPResponse {
    let connection = try TCPConnection(port: port)
    defer { connection.close() }
    var lines = ["\(method) \(target) HTTP/1.1", "Host: \(authority)"] + fields.map { "\($0): \($1)" }
    if let body { lines.append("Content-Length: \(body.count)") }
    lines.append("Connection: close")
    try connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? []), by: deadline)
    return try HTTPResponse.read(from: connection, method: method, by: deadline)
  }

  func get(_ target: String, fields: [(String, String)] = []) throws -> HTTPResponse {
    try send("GET", target, fields: fields)
  }

  /// Posts a form.
  func post(
    _ target: String, form: [(String, String)], fields: [(String, String)] = []
  ) throws -> HTTPResponse {
    try send(
      "POST", target, fields: [("Content-Type", "application/x-www-form-urlencoded")] + fields,
      body: Array(FormEncoding.encode(form).utf8))
  }

  /// Posts a JSON value.
  func post(_ target: String, json: Any) throws -> HTTPResponse {
    try send(
      "POST", target, fields: [("Content-Type", "application/json")],
      body: Array(JSONSerialization.data(withJSONObject: json)))
  }
}

/// `application/x-www-form-urlencoded`.
enum FormEncoding {
  static func encode(_ pairs: [(String, String)]) -> String {
    pairs.map { "\(escape($0.0))=\(escape($0.1))" }.joined(separator: "&")
  }

  /// Percent-encodes everything but RFC 3986's unreserved characters.
  static func escape(_ text: String) -> String {
    text.addingPercentEncoding(
      withAllowedCharacters: CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) ?? ""
  }

  static func decode(_ query: String) -> [(String, String)] {
    query.split(separator: "&").map { pair in
      let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let plain = words.map { $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? String($0) }
      return (plain[0], plain.count > 1 ? plain[1] : "")
    }
  }
}

/// The parts of an http address that a client needs.
struct WebAddress: Sendable, Equatable, CustomStringConvertible {
  /// `http`, or `https` where TLS ends before the gateway: the connection itself is always cleartext.
  var scheme: String
  var host: String
  var port: UInt16
  /// Path and query.
  var target: String

  var path: String { String(target.prefix { $0 != "?" }) }
  var query: [(String, String)] {
    guard let mark = target.firstIndex(of: "?") else { return [] }
    return FormEncoding.decode(String(target[target.index(after: mark)...]))
  }
  subscript(parameter name: String) -> String? { query.first { $0.0 == name }?.1 }
  var origin: String { "\(scheme)://\(host):\(port)" }
  var description: String { origin + target }

  /// Parses an absolute address, or one relative to `base`.
  init(_ text: String, relativeTo base: WebAddress? = nil) throws {
    guard let url = URL(string: text, relativeTo: base.flatMap { URL(string: $0.description) })?.absoluteURL,
      let scheme = url.scheme, ["http", "https"].contains(scheme), let host = url.host,
      let port = url.port.flatMap({ UInt16(exactly: $0) })
    else { throw HarnessError.malformed("address \(text.debugDescription)") }
    self.scheme = scheme
    self.host = host
    self.port = port
    let path = url.path(percentEncoded: true)
    target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
  }
}
