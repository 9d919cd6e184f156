import Foundation
import Testing

// The access log, one line for a request.
//
// - The code of an invitation does not stand in the log, whatever becomes of the request.
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
