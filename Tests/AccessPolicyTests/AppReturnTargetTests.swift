import AccessPolicy
import Testing

// Where a sign-in may be handed back to: listed schemes, and only what can stand in a Location as it is.
@Suite("An app's address to return to")
struct AppReturnTargetTests {
  private let schemes = ["com.example.app", "other"]

  @Test(
    "An address of a listed scheme is kept as it is, in any case of its letters",
    arguments: ["com.example.app:/in", "COM.Example.App://in?a=1&b=%20", "other:", "other:x"])
  func accepted(text: String) throws {
    let target = try #require(AppReturnTarget(parsing: Array(text.utf8), schemes: schemes))
    #expect(target.address == text)
    #expect(AppReturnTarget(restoring: Array(text.utf8)) == target)
  }

  @Test("Parameters that are added to an app's address are in its query")
  func adding() {
    func added(_ text: String) -> String? {
      AppReturnTarget(parsing: Array(text.utf8), schemes: schemes)?.adding("code", "x")
    }
    #expect(added("other:/in") == "other:/in?code=x")
    #expect(added("other:/in?a=1") == "other:/in?a=1&code=x")
  }

  @Test(
    "An app's address of another scheme, or that cannot stand in a Location, is refused",
    arguments: [
      "", "other", "others:x", "com.example.app.evil:x", "https://example.com/", "javascript:other:x", "/other:x",
      " other:x", "other:a b", "other:a\u{0D}\u{0A}b", "other:\u{E9}", "other:#a", "other:\"", "other:<a>",
      "other:a\\b", "other:a>b", "other:a^b", "other:a`b", "other:a{b", "other:a|b", "other:a}b", "other:a\u{7F}",
    ])
  func refused(text: String) { #expect(AppReturnTarget(parsing: Array(text.utf8), schemes: schemes) == nil) }

  @Test("An app's address that is longer than the limit is refused")
  func long() {
    let longest = "other:" + String(repeating: "a", count: AppReturnTarget.maximumLength - 6)
    #expect(AppReturnTarget(parsing: Array(longest.utf8), schemes: schemes) != nil)
    #expect(AppReturnTarget(parsing: Array((longest + "a").utf8), schemes: schemes) == nil)
  }
}
