import DataPlane
import Glibc
import Testing

@testable import ConfigurationFile

// One application behind two upstreams: headers of the user that one of them sets, headers that one of them removes,
// session cookies and private responses.
@Suite("Settings of an application behind two upstreams")
struct SharedApplicationTests {
  /// The upstreams of a configuration whose `[upstream]`, at 127.0.0.1:3000, has headers of its own.
  private func upstreams(_ text: String) throws -> [UpstreamSettings] {
    let headers = "[upstream.headers]\nX-Legacy-User = \"{email}\"\nX-Env = \"prod\"\n"
    let found = try Sandbox.parse(Sandbox.minimal(headers + text))
    return [found.upstream] + found.upstreams
  }

  @Test("A header that an upstream removes or sets from a claim is removed by each upstream with the same address")
  func sameAddress() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "slow"
      url = "http://127.0.0.1:3000"
      remove_headers = ["X-Debug"]
      [[upstreams]]
      name = "both"
      urls = ["http://127.0.0.1:3001", "http://127.0.0.1:3000"]
      headers = { X-Other = "{sub}" }
      [[upstreams]]
      name = "another"
      url = "http://127.0.0.1:3002"
      """)
    #expect(found.map(\.name) == ["default", "slow", "both", "another"])
    #expect(found.map(\.ownHeaders) == [["X-Legacy-User", "X-Env"], [], ["X-Other"], []])
    #expect(
      found.map(\.removedHeaders) == [
        ["X-Debug", "X-Other"], ["X-Debug", "X-Legacy-User", "X-Other"], ["X-Legacy-User", "X-Debug"], [],
      ])
  }

  @Test(
    "An address is the same in another spelling, and another one for another host or port",
    arguments: [
      ("http://LocalHost:3000", true), ("http://[::1]:3000", true), ("http://[0:0:0:0:0:0:0:1]:3000", true),
      ("http://0.0.0.0:3000", true), ("http://[::]:3000", true),
      ("http://127.0.0.2:3000", false), ("http://app.internal:3000", false), ("http://localhost:3001", false),
    ])
  func spelling(address: String, isSame: Bool) throws {
    let found = try upstreams("[[upstreams]]\nname = \"slow\"\nurl = \"\(address)\"\n")
    #expect(found.map(\.removedHeaders) == [[], isSame ? ["X-Legacy-User"] : []])
  }

  @Test("Names are the same in upper and lower case")
  func names() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "one"
      url = "http://App.internal"
      headers = { X-Other = "{sub}" }
      [[upstreams]]
      name = "two"
      url = "http://app.INTERNAL:80"
      """)
    #expect(found.map(\.removedHeaders) == [[], [], ["X-Other"]])
  }

  @Test("A header that an upstream sets or removes itself is not named again, in whatever spelling")
  func alreadyNamed() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "own"
      url = "http://127.0.0.1:3000"
      headers = { x_legacy_user = "nobody" }
      [[upstreams]]
      name = "removed"
      url = "http://127.0.0.1:3000"
      remove_headers = ["x_legacy_user"]
      [identity.headers]
      X-Forwarded-User = "sub"
      """)
    #expect(found.map(\.removedHeaders) == [[], [], ["x_legacy_user"]])
  }

  @Test("Virtual hosts of one address are applications of their own, of which none gets a user's header from clients")
  func virtualHosts() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "one"
      url = "http://127.0.0.1:3000"
      host = "one.internal"
      remove_headers = ["Authorization"]
      end_cookies = ["sid"]
      private_cache = true
      [[upstreams]]
      name = "slow"
      url = "http://127.0.0.1:3000"
      host = "One.internal"
      [[upstreams]]
      name = "two"
      url = "http://127.0.0.1:3000"
      host = "two.internal"
      """)
    let ofBoth = ["X-Legacy-User", "Authorization"]
    #expect(found.map { Set($0.removedHeaders) } == [[], Set(ofBoth), Set(ofBoth), ["X-Legacy-User"]])
    #expect(found.map { $0.cookies.cookies.map(\.description) } == [[], ["sid"], ["sid"], []])
    #expect(found.map(\.cookies.hasPrivateCache) == [false, true, true, false])
  }

  @Test("Session cookies of an upstream are those of each upstream with the same address, in one order")
  func cookies() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "one"
      url = "http://127.0.0.1:3000"
      end_cookies = ["sid", "token; Path=/x"]
      [[upstreams]]
      name = "two"
      url = "http://localhost:3000"
      end_cookies = ["late", "sid"]
      [[upstreams]]
      name = "another"
      url = "http://127.0.0.1:3002"
      end_cookies = ["other"]
      """)
    let all = ["sid", "token; Path=/x", "late"]
    #expect(found.map { $0.cookies.cookies.map(\.description) } == [all, all, all, ["other"]])
    #expect(found.map(\.cookies.hasPrivateCache) == [false, false, false, false])
  }

  @Test("Responses are private by each upstream with the same address if they are by one")
  func privateCache() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "one"
      url = "http://127.0.0.1:3000"
      private_cache = true
      [[upstreams]]
      name = "two"
      url = "http://127.0.0.1:3000"
      private_cache = false
      [[upstreams]]
      name = "another"
      url = "http://127.0.0.1:3002"
      """)
    #expect(found.map(\.cookies.hasPrivateCache) == [true, true, true, false])
  }

  @Test("Upstreams that have the addresses of a third one between them have the application of that one")
  func chain() throws {
    let found = try upstreams(
      """
      [[upstreams]]
      name = "first"
      url = "http://127.0.0.1:3001"
      end_cookies = ["sid"]
      [[upstreams]]
      name = "second"
      url = "http://127.0.0.1:3002"
      [[upstreams]]
      name = "balanced"
      urls = ["http://127.0.0.1:3002", "http://127.0.0.1:3001"]
      """)
    #expect(found.map { $0.cookies.cookies.map(\.description) } == [[], ["sid"], ["sid"], ["sid"]])
  }

  @Test("More session cookies than an upstream may have are an error also if several upstreams have them together")
  func tooManyCookies() throws {
    func upstream(_ name: String, _ cookies: Range<Int>) -> String {
      let list = cookies.map { "\"c\($0)\"" }.joined(separator: ", ")
      return "[[upstreams]]\nname = \"\(name)\"\nurl = \"http://127.0.0.1:3001\"\nend_cookies = [\(list)]\n"
    }
    let most = try upstreams(upstream("one", 0..<40) + upstream("two", 20..<64))
    #expect(most.map(\.cookies.cookies.count) == [0, 64, 64])
    let error = try #require(throws: ConfigurationError.self) {
      try upstreams(upstream("one", 0..<40) + upstream("two", 20..<65) + upstream("three", 65..<66))
    }
    #expect(error.description.split(separator: "\n").count == 1, "\(error)")
    #expect(
      error.description.contains(
        "the upstreams of one application name 65 cookies in end_cookies together, which hold for each; write at most "
          + "64"),
      "\(error)")
  }

  @Test("Ten times as many upstreams of one address do not take a hundred times as long")
  func many() throws {
    func processorTime(_ count: Int) throws -> Double {
      let headers = "headers = { X-One = \"{sub}\", X-Two = \"{sub}\", X-Three = \"{sub}\" }"
      let text: [String] = (0..<count).map {
        "[[upstreams]]\nname = \"u\($0)\"\nurl = \"http://127.0.0.1:3000\"\nend_cookies = [\"sid\"]\n\(headers)\n"
      }
      var times = (timespec(), timespec())
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &times.0)
      let found = try upstreams(text.joined())
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &times.1)
      #expect(found.count == count + 1 && found[0].removedHeaders == ["X-One", "X-Two", "X-Three"])
      return Double(times.1.tv_sec - times.0.tv_sec) + Double(times.1.tv_nsec - times.0.tv_nsec) / 1e9
    }
    let few = try processorTime(20)
    let many = try processorTime(200)
    #expect(many < 25 * few, "\(few) s for 20, \(many) s for 200")
  }

  @Test("A claim that another upstream has already is no repetition, and gives no warning")
  func warnings() throws {
    let text = """
      [upstream.headers]
      X-Legacy-User = "{email}"
      [[upstreams]]
      name = "slow"
      url = "http://127.0.0.1:3000"
      remove_headers = ["X-Debug"]
      [[route]]
      path = "/slow/"
      upstream = "slow"
      """
    #expect(try Sandbox.check(Sandbox.minimal(text)).warnings.map(\.description) == [])
  }
}
