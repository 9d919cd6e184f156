import Testing

// A first sign-in that takes longer than ten minutes at Apple: for making an Apple Account, or finding the telephone
// with the second factor. Apple sends the name with that answer only.

@SystemActor
@Suite("A sign-in that took too long")
struct LateSignInTests {
  @Test("The page of a late sign-in leads to where it was going, and the name that came with it is kept for the next")
  func late() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    try site.apple.add(user: [
      "id": "nora", "first_name": "Nora", "last_name": "Ferreira", "email": "nora@example.com",
    ])
    let visitor = Visitor()
    try visitor.start(site, returnTo: "/deep/link?x=1")
    try site.setClock(secondsAhead: 601)
    try visitor.decide(.proceed(user: "nora"))
    let answer = try visitor.answerForm()
    try visitor.carryBack(answer)
    // The same when that page is reloaded.
    let late = try visitor.carryBack(answer)
    #expect(late.status == 400 && late.text.contains("Your sign-in took too long"))
    #expect(visitor.jar["__Host-cordon"] == nil)
    let link = try #require(HTMLTag.all(in: late.text).first { $0["href"]?.contains("return_to=") == true }?["href"])
    #expect(link.hasSuffix("?return_to=/deep/link%3Fx%3D1"))
    try visitor.signIn(site, as: "nora", returnTo: "/deep/link?x=1")
    let seen = try site.upstream.waitForRequest { $0.target == "/deep/link?x=1" }
    #expect(seen.fields["X-Forwarded-Name"] == "Nora Ferreira")
  }
}
