import Testing

@testable import AccessPolicy

@Suite("The session parameter of Java containers")
struct SessionParameterTests {
  private let table: RouteTable

  init() throws {
    table = try RouteTable(routes: [
      RouteSettings(path: "/public/", access: .public), RouteSettings(path: "/public/inner", access: .deny),
      RouteSettings(path: "/page", access: .public),
    ])
  }

  private func access(_ text: String) -> RouteDecision.Access {
    let path = Array(text.utf8)
    return table.matchWithSessionParameter(path.span, PathClassification.classify(path.span)).access
  }

  @Test(
    "A session parameter in its exact form changes nothing where the route is the same without it",
    arguments: ["/public/a;jsessionid=1", "/public/;jsessionid=A.b_c-d!9", "/public/a/b.css;jsessionid=Z"])
  func same(_ path: String) { #expect(access(path) == .public) }

  @Test(
    "A path is ambiguous with a session parameter in another form, and where its route is another without it",
    arguments: [
      "/public/a;jsessionid=", "/public/a;Jsessionid=1", "/public/a;jsessionid=1~", "/public/a;jsessionid=1/b",
      "/public/a;b;jsessionid=1", "/public/a;jsessionid=1;b", "/public/a%3Bjsessionid=1", "/public//a;jsessionid=1",
      "/page;jsessionid=1", ";jsessionid=1", "/;jsessionid=1",
    ])
  func other(_ path: String) { #expect(access(path) != .public) }

  @Test(
    "A session parameter opens no denied path",
    arguments: ["/public/inner;jsessionid=1", "/public/inner/a;jsessionid=1"])
  func denied(_ path: String) { #expect(access(path) == .deny) }

  @Test(
    "Dot segments are refused before a session parameter, too",
    arguments: ["/public/..;jsessionid=1", "/public/.;jsessionid=1"])
  func dots(_ path: String) {
    let bytes = Array(path.utf8)
    #expect(PathClassification.classify(bytes.span) == .refused(.dotSegment))
  }
}
