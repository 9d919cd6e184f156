import Foundation
import TemporaryDirectoryTesting
import Testing

// Unix sockets on both sides of the gateway.
//
// - A gateway that listens on one, before an application on one: requests, identity fields, bodies, kept connections.
// - A socket file that a killed gateway left behind is not an obstacle.
// - An application whose socket is away is 502, and is found when it is back.
// - A gateway whose socket file is removed says so, and goes on to serve open connections.

@SystemActor
@Suite("Unix sockets")
struct UpstreamUnixTests {
  private func configuration(before path: String) throws -> GatewayConfiguration {
    var configuration = try GatewayConfiguration(upstream: "unix:\(path)")
    configuration["listen", "address"] = "\"unix:gateway.sock\""
    // One event loop, whose connection to the application serves every client.
    configuration["listen", "workers"] = "1"
    configuration.ending = GatewayConfiguration.everythingPublic
    return configuration
  }

  private func exchange(_ gateway: GatewayProcess, _ request: String) throws -> HTTPResponse {
    let connection = try UnixSocket.connect("\(gateway.directory.path)/gateway.sock")
    defer { connection.close() }
    try connection.send(request.replacingOccurrences(of: "HOST", with: gateway.client.authority))
    return try HTTPResponse.read(from: connection)
  }

  private static let get = "GET /a HTTP/1.1\r\nHost: HOST\r\n\r\n"

  @Test("A gateway on a Unix socket serves an application on a Unix socket")
  func both() throws {
    let folder = try TemporaryDirectory()
    let application = try UnixApplication("\(folder.path)/app.sock")
    defer { application.stop() }
    let gateway = try GatewayProcess(configuration(before: application.path))
    defer { gateway.stop() }
    #expect(try exchange(gateway, Self.get).text == "GET /a ")
    let post = "POST /b HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\nX-Forwarded-For: 10.9.9.9\r\n\r\nabc"
    #expect(try exchange(gateway, post).text == "POST /b abc")
    let seen = application.requests.current
    #expect(seen.count == 2 && seen[0].connection == seen[1].connection, "the connection is kept")
    #expect(seen[1].fields["Host"] == gateway.client.authority)
    #expect(seen[1].fields["X-Forwarded-For"]?.contains("10.9.9.9") == false, "a peer of a socket is a stranger, too")

    try gateway.killAndRestart()
    #expect(try exchange(gateway, Self.get).status == 200, "the socket that was left behind is replaced")
  }

  @Test("An application whose socket is away is 502, and is found when it is back")
  func away() throws {
    let folder = try TemporaryDirectory()
    let path = "\(folder.path)/app.sock"
    let gateway = try GatewayProcess(configuration(before: path))
    defer { gateway.stop() }
    #expect(try exchange(gateway, Self.get).status == 502)
    let application = try UnixApplication(path)
    defer { application.stop() }
    #expect(try exchange(gateway, Self.get).text == "GET /a ")
  }

  @Test("A gateway whose socket file is removed says so in its log and health, and serves open connections")
  func removed() throws {
    let folder = try TemporaryDirectory()
    let application = try UnixApplication("\(folder.path)/app.sock")
    defer { application.stop() }
    let gateway = try GatewayProcess(configuration(before: application.path))
    defer { gateway.stop() }
    let path = "\(gateway.directory.path)/gateway.sock"
    let connection = try UnixSocket.connect(path)
    defer { connection.close() }
    try FileManager.default.removeItem(atPath: path)
    try gateway.waitForLogLine("the file of a listening socket was removed", "gateway.sock", "restart cordon")
    try poll("the check of health") {
      let health = try gateway.admin.get("/healthz").text
      return health.contains("\"name\":\"listening sockets\",\"status\":\"failing\"") ? () : nil
    }
    #expect(try gateway.admin.get("/readyz").status == 200)
    try connection.send(Self.get.replacingOccurrences(of: "HOST", with: gateway.client.authority))
    #expect(try HTTPResponse.read(from: connection).status == 200)

    try gateway.restart()
    #expect(try exchange(gateway, Self.get).status == 200)
  }
}

/// Unix stream sockets by their path.
enum UnixSocket {
  static func connect(_ path: String) throws -> TCPConnection {
    let descriptor = try open()
    guard withAddress(path, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw HarnessError.system("connect to \(path)", errno: code)
    }
    return TCPConnection(descriptor: descriptor)
  }

  static func listen(_ path: String) throws -> Int32 {
    let descriptor = try open()
    guard withAddress(path, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 128) == 0 else {
      throw HarnessError.system("listen on \(path)", errno: errno)
    }
    return descriptor
  }

  private static func open() throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw HarnessError.system("socket", errno: errno) }
    return descriptor
  }

  private static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { field in
      for (index, byte) in path.utf8.prefix(field.count - 1).enumerated() { field[index] = byte }
    }
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}

/// An application on a Unix socket: it answers with the method, the target and the body.
final class UnixApplication: Sendable {
  let path: String
  let requests = Watched<[RawUpstream.Request]>([])
  private let listener: Int32

  init(_ path: String) throws {
    self.path = path
    listener = try UnixSocket.listen(path)
    Thread.detachNewThread { [listener, requests] in
      var number = 0
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        let connection = TCPConnection(descriptor: descriptor)
        let current = number
        number += 1
        Thread.detachNewThread {
          defer { connection.close() }
          while let request = try? RawUpstream.Request.read(from: connection, number: current) {
            requests.update { $0.append(request) }
            let body = "\(request.method) \(request.target) " + String(decoding: request.body, as: UTF8.self)
            try? connection.send(RawUpstream.response(body: body))
          }
        }
      }
    }
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }
}
