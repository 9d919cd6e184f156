import Foundation

/// The fields of a message, in order and as they were written.
struct Fields: Sendable {
  private(set) var lines: [(name: String, value: String)] = []

  init(_ lines: [(name: String, value: String)] = []) { self.lines = lines }

  /// Every value of `name`, compared without regard to ASCII case.
  subscript(all name: String) -> [String] {
    lines.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// The first value of `name`.
  subscript(name: String) -> String? { self[all: name].first }

  mutating func append(_ name: String, _ value: String) { lines.append((name, value)) }

  /// Whether a field of `name` is there.
  func contains(_ name: String) -> Bool { self[name] != nil }
}

/// A request head or response head as it came over the wire, and what it says.
struct MessageHead: Sendable {
  let startLine: String
  let fields: Fields

  /// Parses everything up to and including the empty line.
  init(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    var lines = text.components(separatedBy: "\r\n")
    guard lines.count >= 3, lines.removeLast() == "", lines.removeLast() == "" else {
      throw HarnessError.malformed("head \(text.debugDescription)")
    }
    startLine = lines.removeFirst()
    fields = try Fields(
      lines.map { line in
        guard let colon = line.firstIndex(of: ":") else {
          throw HarnessError.malformed("field \(line.debugDescription)")
        }
        let value = line[line.index(after: colon)...]
        return (String(line[..<colon]), value.trimmingCharacters(in: CharacterSet(charactersIn: " \t")))
      })
  }

  /// The framing of the body that follows.
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
    case untilClose
  }
}

/// A response as a client of the tests sees it.
struct HTTPResponse: Sendable {
  let status: Int
  let head: MessageHead
  let body: [UInt8]
  /// The interim (1xx) responses that came before it.
  let interim: [MessageHead]

  var fields: Fields { head.fields }
  var text: String { String(decoding: body, as: UTF8.self) }
  var location: String? { fields["Location"] }
  var setCookies: [String] { fields[all: "Set-Cookie"] }

  /// The body as a JSON object.
  func json() throws -> [String: Any] {
    guard let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
      throw HarnessError.malformed("JSON object \(text)")
    }
    return object
  }

  /// Reads one response; `method` decides whether it has a body.
  static func read(
    from connection: TCPConnection, method: String = "GET", by deadline: Deadline = .standard
  ) throws -> HTTPResponse {
    var interim: [MessageHead] = []
    while true {
      let head = try MessageHead(connection.read(through: "\r\n\r\n", by: deadline))
      let words = head.startLine.split(separator: " ", maxSplits: 2)
      guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", let status = Int(words[1]) else {
        throw HarnessError.malformed("status line \(head.startLine.debugDescription)")
      }
      if (100..<200).contains(status) && status != 101 {
        interim.append(head)
        continue
      }
      let framing = try framing(head, status: status, method: method)
      let body: [UInt8]
      do {
        body = try connection.readBody(framing, by: deadline).content
      } catch HarnessError.endOfStream(let what) {
        throw HarnessError.cutOff("\(head.startLine): \(what)")
      }
      return HTTPResponse(status: status, head: head, body: body, interim: interim)
    }
  }

  private static func framing(_ head: MessageHead, status: Int, method: String) throws -> MessageHead.Framing {
    if method == "HEAD" || status == 101 || status == 204 || status == 304 { return .none }
    if let coding = head.fields["Transfer-Encoding"] {
      guard coding.lowercased() == "chunked" else { throw HarnessError.malformed("Transfer-Encoding \(coding)") }
      return .chunked
    }
    if let length = head.fields["Content-Length"] {
      guard let length = Int(length) else { throw HarnessError.malformed("Content-Length \(length)") }
      return .length(length)
    }
    return .untilClose
  }
}

extension TCPConnection {
  /// Reads a body: what it says, and the bytes as they came over the wire.
  func readBody(
    _ framing: MessageHead.Framing, by deadline: Deadline = .standard
  ) throws -> (content: [UInt8], wire: [UInt8]) {
    switch framing {
    case .none: return ([], [])
    case .length(let count):
      let bytes = try read(count: count, by: deadline)
      return (bytes, bytes)
    case .untilClose:
      let bytes = try readToEnd(by: deadline)
      return (bytes, bytes)
    case .chunked: return try readChunks(by: deadline)
    }
  }

  private func readChunks(by deadline: Deadline) throws -> (content: [UInt8], wire: [UInt8]) {
    var content: [UInt8] = []
    var wire: [UInt8] = []
    while true {
      let line = try read(through: "\r\n", by: deadline)
      wire += line
      let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 13 }
      guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
        throw HarnessError.malformed("chunk size \(String(decoding: line, as: UTF8.self).debugDescription)")
      }
      if size == 0 { break }
      let chunk = try read(count: size + 2, by: deadline)
      wire += chunk
      content += chunk.dropLast(2)
    }
    while true {
      let line = try read(through: "\r\n", by: deadline)
      wire += line
      if line == [13, 10] { return (content, wire) }
    }
  }
}
