import Pages
import Sessions
import Testing

@testable import Gateway

@Suite("Deletions of accounts that are confirmed again")
struct RecentRemovalsTests {
  @Test("The deletion of an account is confirmed again for a minute")
  func recentRemovals() {
    let removals = RecentRemovals()
    let (session, other) = (SessionIdentifier.random().handle, SessionIdentifier.random().handle)
    let now = ContinuousClock.now
    removals.insert(session, .withConnection, at: now)
    #expect(removals.deletion(in: session, at: now + .seconds(59)) == .withConnection)
    #expect(removals.deletion(in: session, at: now + .seconds(60)) == nil)
    #expect(removals.deletion(in: other, at: now) == nil)
  }
}
