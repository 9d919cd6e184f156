import Foundation
import TemporaryDirectoryTesting
import Testing

// How streams share a connection, and how they end.
//
// - Streams end with their session; the connection and other users' streams go on.
// - A response before the end of its upload arrives; a large one does not keep others waiting.
// - A client that gives up requests without end is disconnected.

@SystemActor
@Suite("Streams of HTTP/2", .serialized, .http2Site)
struct HTTP2StreamTests {
  private let site: Site
  private var client: HTTP2Client { HTTP2Client(site.gateway) }

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  @Test("A stream ends when its session is signed out elsewhere, and its connection goes on")
  func signOut() throws {
    struct End: Decodable {
      var reset: Int?
      var done: Bool
      var open: Bool
    }
    let anna = try site.signedIn()
    let cookie = try site.cookie(of: anna)
    let process = try client.start(["hang", "/events", "cookie:\(cookie)"])
    defer { process.stop() }
    try process.waitForLine(containing: "begun")
    _ = try site.gateway.client.post(
      "/.auth/sign-out", form: [], fields: [("Cookie", cookie), ("Origin", site.origin)])
    #expect(try process.waitForExit() == .code(0))
    try process.waitForEndOfOutput()
    let line = try #require(process.standardOutput.split(separator: "\n").last)
    let end = try JSONDecoder().decode(End.self, from: Data(line.utf8))
    // Not CANCEL, which some clients take for the regular end of a response.
    #expect(end.reset == 2 && !end.done && end.open)
  }

  @Test("A client that has given a request up gets its other responses, and requests given up at once reach nobody")
  func secondThoughts() throws {
    let answers: [HTTP2Client.Answer] = try client.run("second_thoughts")
    #expect(answers.map(\.status) == ["200", "200", "401"])
    let upload = try site.upstream.waitForRequest { $0.target == "/public/upload" }
    #expect(upload.body.count == 1_000)
    #expect(String(decoding: upload.bodyBytes.suffix(20), as: UTF8.self).hasSuffix("0\r\nx-sum: abc\r\n\r\n"))
    #expect(Set(site.upstream.requests.map(\.target)) == ["/public/plain", "/public/upload"])
  }

  @Test(
    "A small response is not kept waiting by a download, and one that its client puts behind it is not cut off",
    arguments: [[], ["u=0", "u=7"]])
  func beside(priorities: [String]) throws {
    struct Outcome: Decodable {
      var before: Int?
      var large: Int
      var reset: Int?
      var small: String
    }
    let size = 8 * 1_048_576
    let site = try Site(
      upstream: { request, connection in
        guard request.target == "/public/large" else { return try RawUpstream.greet(request, connection) }
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        for _ in 0..<8 { try connection.send([UInt8](repeating: 0x78, count: 1_048_576), by: .seconds(60)) }
      },
      adjust: {
        $0.acceptHTTP2()
        $0["listen.timeouts", "write_progress"] = "\"2s\""
        $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
      })
    defer { site.stop() }
    // With the protocol's window for the connection it takes longer than write_progress.
    let outcome: Outcome = try HTTP2Client(site.gateway).run(
      ["beside", "/public/large", "/public/small", "0.04"] + priorities)
    #expect(outcome.large == size && outcome.reset == nil)
    #expect(outcome.small == "upstream saw GET /public/small")
    if priorities.isEmpty { #expect(outcome.before.map { $0 < size / 4 } == true) }
  }

  @Test(
    "curl gets the response that refuses its upload, and one of the application before the upload is whole",
    arguments: [10, 100_000, 5_000_000])
  func refusedUpload(size: Int) throws {
    let site = try Site(
      upstream: { request, connection in
        guard request.target == "/public/early" else { return try RawUpstream.greet(request, connection) }
        try connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge")
      },
      adjust: {
        $0.acceptHTTP2()
        $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
      })
    defer { site.stop() }
    let directory = try TemporaryDirectory()
    try Data(repeating: 0x78, count: size).write(to: URL(fileURLWithPath: "\(directory.path)/upload"))
    for (target, status) in [("/hours", "401"), ("/public/early", "413")] {
      for _ in 0..<5 {
        let curl = try ServerProcess.run(
          "/usr/bin/curl",
          [
            "--silent", "--show-error", "--http2-prior-knowledge", "--header", "Expect:", "--request", "POST",
            "--upload-file", "\(directory.path)/upload", "--output", "/dev/null", "--write-out", "%{http_code}",
            "http://localhost:\(site.gateway.configuration.port)\(target)",
          ])
        #expect(curl.exit == .code(0) && curl.standardOutput == status, "\(target): \(curl)")
      }
    }
  }

  @Test("A client that looks for its response only after the whole of its upload can send all of it")
  func patientUpload() throws {
    struct Upload: Decodable {
      var left: Int
      var status: String?
    }
    let upload: Upload = try site.surviving { try client.run("patient", "/hours", "2000000") }
    #expect(upload.left == 0)
    #expect(upload.status == "401")
  }

  @Test("A client that gives up requests without end gets ENHANCE_YOUR_CALM, and others are served")
  func rapidReset() throws {
    struct Resets: Decodable {
      var sent: Int
      var farewell: Int?
    }
    let resets: Resets = try site.surviving { try client.run("resets", "5000") }
    #expect(resets.sent < 1_000)
    #expect(resets.farewell == 11)
    try site.gateway.waitForLog("HTTP/2 connection ended, it costs too much")
    let metrics = try site.gateway.admin.get("/metrics").text
    #expect(metrics.contains("\ncordon_client_http2_errors_total{code=\"enhance_your_calm\"} 1\n"))
  }
}
