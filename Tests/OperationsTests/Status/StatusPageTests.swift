import Foundation
import Testing
import WebFormats

@testable import Operations

@Suite("The status page")
struct StatusPageTests {
  static func report(name: String = "localhost", status: HealthCheck.Status = .ok, steps: Int = 360) -> StatusReport {
    let beginning = 1_000_000.0
    let history = StatusHistory()
    var totals = StatusTotals()
    for step in 0...steps {
      history.record(totals, at: Timestamp(seconds: beginning + Double(step) * 10))
      totals.requests += 50
      totals.serverErrors += 1
      totals.latency.counts[3] += 49
      totals.latency.counts[10] += 1
      totals.appleAnswered += 2
      totals.signIns += 1
    }
    let now = Timestamp(seconds: beginning + Double(steps) * 10)
    return StatusReport(
      now: now, version: "1.2.3", started: Timestamp(seconds: beginning - 90_000), site: name,
      health: HealthReport(checks: [
        HealthCheck(name: "store", status: status, message: status == .failing ? name : nil, since: now)
      ]),
      totals: totals, steps: history.steps(before: now), sessions: 12_345,
      hosts: [
        .init(name: "app.example.com", upstream: "default", requests: 17_000),
        .init(name: name, upstream: "wiki", requests: 2_500),
      ],
      upstreams: [
        .init(name: name, address: name, state: .well, failures: 3, ejections: 1),
        .init(name: "b", address: "10.0.0.2:80", state: .ejected, failures: 0, ejections: 0),
      ],
      files: [
        .init(name: name, changed: Timestamp(seconds: 900_000), expires: Timestamp(seconds: now.seconds + 864_000)),
        .init(name: "old", expires: Timestamp(seconds: 5)),
      ],
      process: ProcessSample(residentBytes: 64 << 20))
  }

  private static func html(_ report: StatusReport) -> String {
    String(decoding: report.page(nonce: "abc123"), as: UTF8.self)
  }

  @Test("The status page shows rate, latency, errors, Apple, sessions, checks, upstreams, keys, version and uptime")
  func contents() {
    let html = Self.html(Self.report())
    for text in [
      "All is well", "<strong>5.0</strong> <span>a second", "18\u{2009}000 in the last hour", "p99", "2.00 %",
      "<strong>Answers</strong>", "12\u{2009}345", "healthy", "ejected", "10 d 0 h left", "expired", "1.2.3", "1 d 2 h",
      "64 MiB", "<h2>Hosts</h2>", "17\u{2009}000<small>requests",
    ] {
      #expect(html.contains(text), "\(text)")
    }
    #expect(html.components(separatedBy: "<svg class=\"plot\"").count == 7)
  }

  @Test("The status page counts one sign-in, and two calls")
  func plurals() {
    let html = Self.html(Self.report(steps: 1))
    #expect(html.contains("1 sign-in, 0 failed") && html.contains("2 calls answered, 0 failed"), "\(html)")
    #expect(Self.html(Self.report()).contains("360 sign-ins, 0 failed"))
  }

  @Test("The status page shows failures first, with what to do")
  func failing() {
    let html = Self.html(Self.report(name: "make room on the disk", status: .failing))
    #expect(html.contains("Something is wrong") && html.contains("class=\"alerts\""))
    #expect(html.contains("<strong>store</strong> make room on the disk"))
    #expect(!Self.html(Self.report()).contains("class=\"alerts\""))
  }

  @Test("The status page says in words that nothing is known of a check or an upstream yet")
  func nothingKnown() {
    func page(_ message: String?) -> String {
      var report = Self.report(status: .unknown)
      report.health.checks[0].message = message
      report.upstreams[0].state = .unknown
      return Self.html(report)
    }
    #expect(page(nil).contains("<i></i>not checked yet</span>") && page(nil).contains("<i></i>no answer yet</span>"))
    #expect(page("Apple answered 503").contains("<i></i>not checked recently</span>"))
    #expect(!page(nil).contains("</i>unknown"))
  }

  @Test("The status page's policy allows its own style, script and renewal only, and it loads nothing from elsewhere")
  func policy() {
    let html = Self.html(Self.report())
    let policy = StatusReport.contentSecurityPolicy(nonce: "abc123")
    for directive in [
      "default-src 'none'", "style-src 'nonce-abc123'", "script-src 'nonce-abc123'", "connect-src 'self'",
    ] {
      #expect(policy.contains(directive))
    }
    #expect(!policy.contains("unsafe") && !policy.contains("*"))
    #expect(html.contains("<style nonce=\"abc123\">") && html.contains("<script nonce=\"abc123\">"))
    #expect(!html.contains(" style=") && html.firstMatch(of: /\son[a-z]+="/) == nil)
    #expect(html.firstMatch(of: /(?:src|href)="(?:https?:)?\/\//) == nil)
  }

  @Test(
    "No name changes the structure of the status page",
    arguments: [
      "<script>alert(1)</script>", "\"><img src=x>", "'x", "&lt;", "\"\u{301}x", "<\u{338}b>", "a\u{0}\u{202E}b",
    ])
  func hostile(name: String) {
    func tags(_ html: String) -> [Substring] { html.matches(of: /<\/?[a-z0-9]+/).map(\.output) }
    let attacked = Self.html(Self.report(name: name, status: .failing))
    #expect(tags(attacked) == tags(Self.html(Self.report(status: .failing))))
    #expect(!attacked.unicodeScalars.contains("\u{202E}") && !attacked.unicodeScalars.contains("\u{0}"))
  }

  @Test("Before the first sample it says that it does not know yet", arguments: [0, 1])
  func young(steps: Int) {
    let html = Self.html(Self.report(steps: steps))
    #expect(html.contains("<h2>Latency</h2>") && !html.contains("nan") && !html.contains("inf"))
  }

  @Test("A gap is a gap in the line")
  func gaps() {
    let svg = StatusPlot(lines: [.init(values: [1, 2, nil, 4, nil, nil, 1, 1])], label: "x").svg.html
    let line = svg.firstMatch(of: /class="line plain" d="([^"]+)"/).map { String($0.1) } ?? ""
    #expect(line.filter { $0 == "M" }.count == 3)
    // The highest value is at the top, a lone one a dash.
    #expect(line.contains("M128.6 2h-6"))
  }

  @Test("A legend names each line as it is drawn, and the value at the top of the plot")
  func legend() {
    let html = Self.html(Self.report())
    for (name, look) in [("median", "plain"), ("p99", "beside"), ("answered", "plain"), ("failed", "trouble")] {
      #expect(html.contains("<li><i class=\"\(look)\"></i>\(name)</li>"), "\(name)")
    }
    for top in ["5.0 a second", "6 a minute", "12 a minute"] {
      #expect(html.contains("<li class=\"top\">up to \(top)</li>"), "\(top)")
    }
    #expect(html.contains("3 failures, 1 ejection<"))
    #expect(html.firstMatch(of: /<li class="top">up to [0-9.]+ m?s<\/li>/) != nil)
    // What was never seen, and what was always nothing, has no top.
    #expect(StatusPlot(lines: [.init(values: [nil, 0])], label: "x").legend.html == "<ul class=\"legend\"></ul>")
  }

  @Test("The status page and its JSON have the same values")
  func json() throws {
    let hostile = "a\"b\\c\u{0}<"
    let data = Data(Self.report(name: hostile, status: .failing).json())
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object["status"] as? String == "degraded" && object["version"] as? String == "1.2.3")
    #expect(object["requests_per_second"] as? Double == 5)
    #expect((object["hour"] as? [String: Any])?["requests"] as? Int == 18_000)
    #expect((object["minutes"] as? [Any])?.count == 60)
    #expect((object["upstreams"] as? [[String: Any]])?.map { $0["state"] as? String } == ["well", "ejected"])
    #expect((object["checks"] as? [[String: Any]])?.first?["message"] as? String == hostile)
    #expect((object["files"] as? [Any])?.count == 2)
    #expect(object["resident_bytes"] as? Int == 64 << 20)
  }

  @Test("The status JSON has nulls, not invented numbers, before the first step")
  func emptyJSON() throws {
    let data = Data(Self.report(steps: 0).json())
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object["latency_p50"] is NSNull && object["requests_per_second"] as? Double == 0)
    #expect((object["minutes"] as? [Any])?.allSatisfy { $0 is NSNull } == true)
  }

  @Test(
    "Numbers are written for people",
    arguments: [
      (0, "0"), (0.01, "0.01"), (0.5, "0.5"), (9.96, "10.0"), (12.4, "12"), (1_234, "1\u{2009}234"), (45_678, "45.7 k"),
      (123_456, "123 k"), (12_345_678, "12.3 M"), (.infinity, "–"), (.nan, "–"), (-1, "–"),
    ])
  func numbers(value: Double, text: String) {
    #expect(StatusNumbers.short(value) == text)
  }

  @Test(
    "Durations are written in their two largest units",
    arguments: [(-5, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3_660, "1 h 1 min"), (90_061, "1 d 1 h")])
  func durations(seconds: Double, text: String) {
    #expect(StatusNumbers.duration(seconds) == text)
  }
}
