import Foundation
import TemporaryDirectoryTesting
import Testing

// The other browser of Debian. Its rules for cookies are its own: `__Host-` cookies on hosts of localhost, SameSite
// between them, and what a redirect from Apple's POST may carry.

@SystemActor
@Suite("Several hosts in Firefox")
struct FirefoxApplicationTests {
  @Test("Three hosts need one sign-in in Firefox, and signing out on one of them is signing out on all")
  func hosts() throws {
    let site = try Site(upstream: EchoingApplication.answer) { try? $0.addHosts(["wiki", "tickets"]) }
    defer { site.stop() }
    let folder = try TemporaryDirectory()
    let script = Machine.packageRoot.appending(path: "Tests/System/Applications/firefox.py").path
    let run = try ServerProcess.run(
      "/usr/bin/python3",
      [
        script, Machine.program("firefox-esr", package: "firefox-esr"), folder.path, "\(FreePort.take())", "anna",
        site.apple.subject(of: "anna"), site.origin, site.origin(of: "wiki"), site.origin(of: "tickets"),
      ], environment: ["HOME": folder.path], by: .seconds(240))
    #expect(run.exit == .code(0), "\(run.standardError)")
    #expect(try site.apple.tokenRequests("authorization_code").count == 1)
  }
}
