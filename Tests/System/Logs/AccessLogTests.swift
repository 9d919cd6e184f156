import Foundation
import Testing

// The access log, one line for a request.
//
// - The code of an invitation does not stand in the log, whatever becomes of the request.
// - The Combined Log Format, and the trace of a request.
// - Method and path stand once, also for a request that waited until its session was looked up; over both versions.

@SystemActor
@Suite("Access log")
struct AccessLogTests {
  @Test("The code of an invitation is in no log line")
  func invitationCode() throws {
    let site = try Site(adjust: {
      $0["log", "access"] = "true"
      $0["log", "access_fields"] = "[\"method\", \"path\", \"status\", \"referer\"]"
      $0["log", "format"] = "\"json\""
    })
    defer { site.stop() }
    let code = "c0dEc0dEc0dEc0dEc0dEc0"
    for (method, path) in [("GET", code), ("HEAD", code), ("POST", code), ("GET", "\(code)/x?y"), ("PUT", code)] {
      _ = try site.gateway.client.send(
        method, "/.auth/invite/\(path)", fields: [("Referer", "\(site.origin)/.auth/invite/\(code)")])
    }
    try site.gateway.waitForLog("/.auth/invite/", count: 5)
    #expect(!String(decoding: site.gateway.log, as: UTF8.self).contains("c0dE"))
  }

  @Test("The Combined Log Format is written for the access log alone")
  func combined() throws {
    let site = try Site(adjust: {
      $0["log", "access"] = "true"
      $0["log", "format"] = "\"combined\""
    })
    defer { site.stop() }
    let fields = [("User-Agent", "tester/1.0"), ("Referer", "\(site.origin)/from?secret")]
    #expect(try site.gateway.client.get("/wanted?secret", fields: fields).status == 401)
    let line = try site.gateway.process.waitForLine(containing: "/wanted")
    #expect(
      line.wholeMatch(
        of: /127\.0\.0\.1 - - \[\d\d\/[A-Z][a-z]{2}\/\d{4}(:\d\d){3} \+0000\] "GET \/wanted HTTP\/1\.1" 401 \d+ .*/)
        != nil,
      "\(line)")
    #expect(line.hasSuffix("\"\(site.origin)/from\" \"tester/1.0\""), "\(line)")
    let other = try #require(
      String(decoding: site.gateway.log, as: UTF8.self).split(separator: "\n").first { !$0.contains("/wanted") })
    #expect(other.hasPrefix("{"), "\(other)")
  }

  @Test("The trace of a request is in its line where it is asked for")
  func trace() throws {
    let site = try Site(adjust: {
      $0["log", "access"] = "true"
      $0["log", "format"] = "\"json\""
      $0["log", "access_fields"] = "[\"path\", \"trace\"]"
    })
    defer { site.stop() }
    let trace = "0af7651916cd43dd8448eb211c80319c"
    for (number, (value, isTrace)) in [
      ("00-\(trace)-b7ad6b7169203331-01", true), ("00-\(trace.uppercased())-b7ad6b7169203331-01", false),
      ("00-\(String(repeating: "0", count: 32))-b7ad6b7169203331-01", false), ("\(trace)", false),
    ].enumerated() {
      _ = try site.gateway.client.get("/traced/\(number)", fields: [("traceparent", value)])
      let line = try site.gateway.process.waitForLine(containing: "/traced/\(number)")
      #expect(line.contains("\"trace\":\"\(trace)\"") == isTrace && line.contains("trace\":") == isTrace, "\(line)")
    }
  }

  @Test("The path of a request that waited for its session stands in the log once")
  func waiting() throws {
    let site = try Site(adjust: {
      $0.acceptHTTP2()
      $0["log", "access"] = "true"
      $0["log", "format"] = "\"json\""
    })
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    for version in ["HTTP/1.1", "HTTP/2"] {
      // Nothing is remembered of the session: the first request has to ask for it.
      try site.gateway.restart()
      let path = "/first/\(version.hasSuffix("2") ? 2 : 1)"
      if version == "HTTP/2" {
        let run = try ServerProcess.run(
          "/usr/bin/python3",
          [
            Machine.packageRoot.appending(path: "Tests/System/HTTP2/client.py").path,
            "\(site.gateway.configuration.port)", "get", path, "cookie:\(cookie)",
          ])
        #expect(run.exit == .code(0), "\(run.standardError)")
      } else {
        #expect(try site.gateway.client.get(path, fields: [("Cookie", cookie)]).status == 200)
      }
      let line = try poll("the line of \(path)") {
        String(decoding: site.gateway.log, as: UTF8.self).split(separator: "\n").first { $0.contains(path) }
          .map(String.init)
      }
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["path"] as? String == path && object["method"] as? String == "GET", "\(line)")
    }
  }
}
