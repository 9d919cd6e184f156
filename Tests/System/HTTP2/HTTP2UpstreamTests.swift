import Foundation
import Testing

// An application that is spoken to in HTTP/2 in cleartext (server.py).

@SystemActor
@Suite("Applications in HTTP/2")
struct HTTP2UpstreamTests {
  private func startApplication() throws -> (ServerProcess, port: UInt16) {
    let port = try FreePort.take()
    let script = Machine.packageRoot.appending(path: "Tests/System/HTTP2/server.py").path
    let application = try ServerProcess("/usr/bin/python3", [script, "\(port)"])
    try application.waitForLine(containing: "listening")
    return (application, port)
  }

  @Test("An answer before all of the request was taken: the next request finds a connection that is free")
  func earlyAnswer() throws {
    let (application, port) = try startApplication()
    defer { application.stop() }
    let site = try Site(adjust: {
      $0["listen", "workers"] = "1"
      $0["upstream", "url"] = "\"http://127.0.0.1:\(port)\""
      $0["upstream", "protocol"] = "\"h2\""
      $0["upstream.timeouts", "first_byte"] = "\"30s\""
      $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
    })
    defer { site.stop() }
    for _ in 0..<3 {
      // More than the stream's window, and less than the gateway keeps back for an application.
      let early = try site.gateway.client.send(
        "POST", "/public/early", body: [UInt8](repeating: 0x78, count: 120_000))
      #expect(early.status == 200)
      #expect(try site.gateway.client.get("/public/echo").status == 200)
    }
  }

  @Test("A call of gRPC passes message by message, both ways, with its trailers; also one that fails at once")
  func call() throws {
    let (application, port) = try startApplication()
    defer { application.stop() }
    let site = try Site(adjust: {
      $0.acceptHTTP2()
      $0["upstream", "url"] = "\"http://127.0.0.1:\(port)\""
      $0["upstream", "protocol"] = "\"h2\""
    })
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = "cookie:\(try site.cookie(of: anna))"
    for (path, count, status) in [("/echo", 20, "0"), ("/fail", 1, "5"), ("/echo", 3, "0")] {
      let answer: HTTP2Client.Answer = try HTTP2Client(site.gateway).run("call", path, "\(count)", cookie)
      #expect(answer.status == "200")
      #expect(answer.body.utf8.count == (status == "0" ? count * 1_000 : 0))
      #expect((answer.fields + answer.trailers).contains(["grpc-status", status]))
      #expect(answer.fields.contains(["x-te", "trailers"]))
      #expect(answer.fields.contains(["x-user", try site.apple.subject(of: "anna")]))
    }
  }
}
