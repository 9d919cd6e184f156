import Sessions
import Synchronization
import Testing

@testable import DataPlane
@testable import Gateway

// Cases: reloads that change nothing, that add an upstream of the application before or after the known one, that add,
// remove or reorder cookies, that unite two applications; another application.

@Suite("The session cookies of applications over reloads")
struct EndCookiesTests {
  private final class Reports: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  private let reports = Reports()
  private let subject: Subject

  init() throws { subject = try #require(Subject("001.anna")) }

  private func make(
    _ upstreams: [(name: String, application: Int, cookies: [String])], after previous: EndCookies? = nil
  ) throws -> EndCookies {
    let settings = try upstreams.map { upstream -> EndCookies.UpstreamCookies in
      var cookies = UpstreamCookieSettings()
      cookies.cookies = try upstream.cookies.map { try #require(EndCookie($0)) }
      return (upstream: upstream.name, application: upstream.application, cookies: cookies)
    }
    return EndCookies(settings, try .forTests(), after: previous) { [reports] upstream, cookie in
      reports.add("\(upstream) \(cookie)")
    }
  }

  /// Whether a value of `Set-Cookie` gets the code of the account.
  private func isBound(_ value: String, by cookies: EndCookies, on upstream: Int) throws -> Bool {
    let bytes = Array(value.utf8)
    let binding = try #require(cookies.binding(of: subject, on: upstream))
    return binding.code(for: 0..<bytes.count, bytes.span.bytes) != nil
  }

  @Test(
    "A cookie without HttpOnly stays unbound over a reload that changes the upstreams or cookies of its application",
    arguments: [
      ([("wiki", 0, ["sid"])], 0),
      ([("wiki", 0, ["sid"]), ("slow", 0, ["sid"])], 1),
      ([("slow", 0, ["sid"]), ("wiki", 0, ["sid"])], 0),
      ([("slow", 0, ["other", "sid"]), ("wiki", 0, ["other", "sid"])], 0),
      ([("wiki", 0, ["sid; Path=/wiki", "sid; Path=/", "other"])], 0),
      ([("shop", 0, ["cart"]), ("wiki", 1, ["other", "sid"])], 1),
    ] as [([(String, Int, [String])], Int)])
  func kept(_ next: [(String, Int, [String])], _ upstream: Int) throws {
    let before = try make([("wiki", 0, ["sid"])])
    #expect(try isBound("sid=x; HttpOnly", by: before, on: 0))
    #expect(try !isBound("sid=x; Path=/", by: before, on: 0))
    #expect(reports.all == ["wiki sid"])
    let after = try make(next.map { (name: $0.0, application: $0.1, cookies: $0.2) }, after: before)
    #expect(try !isBound("sid=x; HttpOnly", by: after, on: upstream))
    #expect(try !isBound("sid=x; Path=/", by: after, on: upstream))
    #expect(reports.all == ["wiki sid"], "it is known")
  }

  @Test("A reload does not take what was found for another application, nor for another cookie")
  func separate() throws {
    let before = try make([("wiki", 0, ["sid"]), ("shop", 1, ["sid"])])
    #expect(try !isBound("sid=x", by: before, on: 0))
    let after = try make([("wiki", 0, ["other", "sid"]), ("shop", 1, ["sid"])], after: before)
    #expect(try !isBound("sid=x; HttpOnly", by: after, on: 0))
    #expect(try isBound("other=x; HttpOnly", by: after, on: 0))
    #expect(try isBound("sid=x; HttpOnly", by: after, on: 1))
    let removed = try make([("shop", 0, ["sid"])], after: after)
    #expect(try isBound("sid=x; HttpOnly", by: removed, on: 0))
  }

  @Test("Upstreams that become one application share what was found for each of them")
  func united() throws {
    let before = try make([("wiki", 0, ["a"]), ("shop", 1, ["b"])])
    #expect(try !isBound("a=x", by: before, on: 0))
    #expect(try !isBound("b=x", by: before, on: 1))
    let after = try make([("wiki", 0, ["a", "b"]), ("shop", 0, ["a", "b"])], after: before)
    for upstream in 0..<2 {
      #expect(try !isBound("a=x; HttpOnly", by: after, on: upstream))
      #expect(try !isBound("b=x; HttpOnly", by: after, on: upstream))
    }
  }
}
