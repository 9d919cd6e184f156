import Foundation

/// A server on a raw socket, in the application's place: it records exactly the bytes that reached it, and answers
/// exactly what the test says (after `100 Continue`, to a request that waits for it).
final class RawUpstream: Sendable {
  /// One request as it came over the wire.
  struct Request: Sendable {
    /// The head, with the empty line that ends it.
    let headBytes: [UInt8]
    let head: MessageHead
    /// The body without its framing.
    let body: [UInt8]
    /// The body as it came: with chunk sizes and trailers.
    let bodyBytes: [UInt8]
    /// Counts the connections from 0.
    let connection: Int

    var headText: String { String(decoding: headBytes, as: UTF8.self) }
    var method: String { word(0) }
    var target: String { word(1) }
    var fields: Fields { head.fields }

    private func word(_ index: Int) -> String {
      let words = head.startLine.components(separatedBy: " ")
      return index < words.count ? words[index] : ""
    }
  }

  /// All bytes that a connection received, parsed or not.
  typealias ConnectionHandler = @Sendable (_ connection: TCPConnection, _ number: Int) throws -> Void
  /// Answers one request; the connection stays open afterwards unless the handler closes it.
  typealias RequestHandler = @Sendable (_ request: Request, _ connection: TCPConnection) throws -> Void

  let port: UInt16
  private let listener: Int32
  private let recorded = Watched<[Request]>([])
  private let connections = Watched<[TCPConnection]>([])

  /// Answers each request with `handler`; without one, with 200 and a body that names the request's target.
  convenience init(port: UInt16? = nil, _ handler: @escaping RequestHandler = RawUpstream.greet) throws {
    let box = Watched<(@Sendable (Request) -> Void)?>(nil)
    try self.init(
      port: port,
      connections: { connection, number in
        while let request = try Request.read(from: connection, number: number) {
          box.current?(request)
          try handler(request, connection)
        }
      })
    box.update { [recorded] in $0 = { request in recorded.update { $0.append(request) } } }
  }

  /// Hands each connection to `handler`, on a thread of its own; the connection closes when it returns or throws.
  init(port: UInt16? = nil, connections handler: @escaping ConnectionHandler) throws {
    self.port = try port ?? FreePort.take()
    listener = try Self.listen(self.port)
    Thread.detachNewThread { [listener, connections] in
      while true {
        let descriptor = Glibc.accept(listener, nil, nil)
        if descriptor < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // What a test sends is to be on its way when `send` returns, not when the gateway has acknowledged what was
        // before.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let connection = TCPConnection(descriptor: descriptor)
        let number = connections.update { list in
          list.append(connection)
          return list.count - 1
        }
        Thread.detachNewThread {
          defer { connection.close() }
          try? handler(connection, number)
        }
      }
    }
  }

  deinit { stop() }

  /// Stops accepting and ends every connection. What was recorded stays.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    for connection in connections.current { connection.shutdownBoth() }
  }

  /// Every request received so far.
  var requests: [Request] { recorded.current }

  /// The number of connections made so far.
  var connectionCount: Int { connections.current.count }

  /// Every request received so far is forgotten.
  func forget() { recorded.update { $0 = [] } }

  /// Waits for a request that `isWanted` says yes to.
  func waitForRequest(
    _ what: String = "a request upstream", by deadline: Deadline = .standard,
    where isWanted: (Request) -> Bool = { _ in true }
  ) throws -> Request {
    try recorded.take(what, by: deadline) { $0.first(where: isWanted) }
  }

  /// The usual answer: 200, and the request's target.
  static let greet: RequestHandler = { request, connection in
    let body = "upstream saw \(request.method) \(request.target)"
    try connection.send(response(body: request.method == "HEAD" ? "" : body, length: body.utf8.count))
  }

  /// A response with a Content-Length.
  static func response(
    _ status: String = "200 OK", fields: [String] = [], body: String = "", length: Int? = nil
  ) -> String {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(length ?? body.utf8.count)"] + fields
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
  }

  private static func listen(_ port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard withLoopback(port: port, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 128) == 0 else {
      throw HarnessError.system("listen on port \(port)", errno: errno)
    }
    return descriptor
  }
}

extension RawUpstream.Request {
  /// Reads one request; nil at the end of the connection.
  static func read(from connection: TCPConnection, number: Int) throws -> RawUpstream.Request? {
    let mark = Array("\r\n\r\n".utf8)
    let headBytes: [UInt8]? = try connection.receive("a request", by: .seconds(600)) { buffer, ended in
      if let end = buffer.firstRange(of: mark)?.upperBound {
        defer { buffer.removeFirst(end) }
        return .some(Array(buffer[..<end]))
      }
      return ended ? .some(nil) : nil
    }
    guard let headBytes else { return nil }
    let head = try MessageHead(headBytes)
    var framing = MessageHead.Framing.none
    if head.fields.contains("Transfer-Encoding") {
      framing = .chunked
    } else if let length = head.fields["Content-Length"].flatMap({ Int($0) }) {
      framing = .length(length)
    }
    if head.fields["Expect"]?.lowercased() == "100-continue" { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
    let body = try connection.readBody(framing)
    return RawUpstream.Request(
      headBytes: headBytes, head: head, body: body.content, bodyBytes: body.wire, connection: number)
  }
}
