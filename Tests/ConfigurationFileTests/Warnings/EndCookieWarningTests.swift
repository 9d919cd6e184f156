import Testing

@testable import ConfigurationFile

// One application behind two upstreams, as for another timeout on some paths.
@Suite("Warnings about session cookies that only some upstreams of an application have in end_cookies")
struct EndCookieWarningTests {
  /// The warnings about end_cookies. The address of `[upstream]`, which has none, is http://127.0.0.1:3000, in line 5.
  private func warnings(_ upstreams: String...) throws -> [String] {
    try ConfigurationFile.check(
      Sandbox.minimal(upstreams.joined()), name: "gateway.conf", directory: Sandbox.directory,
      environment: Sandbox.environment, files: Sandbox.files
    ).warnings.map(\.description).filter { $0.contains("end_cookies") }
  }

  private func upstream(_ name: String, _ url: String, _ cookies: String? = nil) -> String {
    "[[upstreams]]\nname = \"\(name)\"\nurl = \"\(url)\"\n" + (cookies.map { "end_cookies = [\($0)]\n" } ?? "")
  }

  @Test("An upstream without a session cookie that another one of the same address has is warned about")
  func missing() throws {
    let found = try warnings(upstream("slow", "http://127.0.0.1:3000", "\"sid\""))
    #expect(
      found == [
        "gateway.conf:5:1: warning: the upstreams slow and default have the same address, but only slow has sid in "
          + "end_cookies: default forwards it with the code that binds it to an account, and one without a code "
          + "whatever the account is; write the same end_cookies in all upstreams of one application"
      ])
    #expect(try warnings(upstream("slow", "http://localhost:3000", "\"sid\"")) == found)
    let both = try warnings(
      upstream("one", "http://127.0.0.1:3001", "\"sid\", \"token\""),
      upstream("two", "http://127.0.0.1:3001", "\"sid\""))
    #expect(both.count == 1 && both[0].contains("the upstreams one and two"), "\(both)")
    #expect(both[0].contains("only one has token in"), "\(both)")
  }

  @Test("Another application, cookies with a path of their own, and the same cookies in all upstreams give no warning")
  func noWarning() throws {
    #expect(try warnings(upstream("other", "http://127.0.0.1:3001", "\"sid\"")).isEmpty)
    #expect(try warnings(upstream("slow", "http://127.0.0.1:3000", "\"sid; Path=/slow\"")).isEmpty)
    #expect(
      try warnings(upstream("slow", "http://127.0.0.1:3000", "\"sid\"") + "strip_prefix = \"/slow\"\n").isEmpty)
    #expect(
      try warnings(
        upstream("one", "http://127.0.0.1:3001", "\"sid\""),
        upstream("two", "http://127.0.0.1:3001", "\"sid; Path=/two\"")
      ).isEmpty)
  }
}
