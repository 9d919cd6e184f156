import Sessions
import Testing
import WebFormats

@testable import Gateway

@Suite("The cookie of a visit")
struct VisitCookieTests {
  /// The cookies that a browser sends after these `Set-Cookie`s.
  private func sent(_ cookies: [VisitCookie], _ more: String = "theme=dark") -> RequestCookies {
    RequestCookies([(cookies.map { String($0.setting.prefix { $0 != ";" }) } + [more]).joined(separator: "; ")])
  }

  @Test("The cookie of a visit comes back as it was set, with a secret of 128 bits that is never the same")
  func roundTrip() {
    let cookies = (0..<20).map { VisitCookie(now: 1_700_000_000_000 + $0, .standard) }
    #expect(VisitCookie.all(in: sent(cookies), .standard) == cookies)
    #expect(Set(cookies.map(\.secret)).count == 20 && cookies.allSatisfy { $0.secret.utf8.count == 32 })
    #expect(cookies[0].setting.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=1260"))
    #expect(cookies[0].clearing == "__Host-cordon-visit-\(cookies[0].name)=; \(SessionCookie.attributes); Max-Age=0")
  }

  @Test("The oldest give way so that five remain, in whatever order a browser sends them")
  func surplus() {
    let cookies = (0..<7).map { VisitCookie(now: 1_700_000_000_000 + $0 * 1_000, .standard) }
    let new = VisitCookie(now: 1_700_000_009_000, .standard)
    #expect(new.surplus(in: sent(cookies.reversed())) == Array(cookies[..<3]))
    #expect(new.surplus(in: sent(Array(cookies[..<4]))).isEmpty)
    #expect(new.surplus(in: sent([])).isEmpty)
  }

  @Test("Of as many cookies as fit into a header, no more than a browser may have are looked at")
  func flood() {
    let flood = (0..<800).map { VisitCookie(now: 1_700_000_000_000 + $0, .standard) }
    #expect(VisitCookie.all(in: sent(flood), .standard).count == RequestCookies.mostAlike)
    #expect(VisitCookie(now: 1_700_000_009_000, .standard).surplus(in: sent(flood)).count < RequestCookies.mostAlike)
  }

  @Test("A name that could not be ours is left alone")
  func foreignNames() {
    let prefix = "__Host-cordon-visit-"
    let names = ["x", "0123456789ABCDEF", "0123456789abcde", "0123456789abcdef0"]
    let cookies = RequestCookies([names.map { "\(prefix)\($0)=a" }.joined(separator: "; ")])
    #expect(VisitCookie.all(in: cookies, .standard).isEmpty)
    let twice = RequestCookies(["\(prefix)0123456789abcdef=a; \(prefix)0123456789abcdef=b"])
    #expect(VisitCookie.all(in: twice, .standard).map(\.secret) == ["a"])
  }
}
