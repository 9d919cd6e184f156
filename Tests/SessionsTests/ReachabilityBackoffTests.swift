import Foundation
import Testing

@testable import Sessions

@Suite("When Apple cannot be reached")
struct ReachabilityBackoffTests {
  private func seconds(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }

  @Test("Calls are not paused before one could not be sent; then one is tried after the pause")
  func pauses() {
    var backoff = ReachabilityBackoff()
    #expect(backoff.mayTry(at: noon) == true)
    #expect(backoff.mayTry(at: noon) == true)
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(0.9)) == false)
    #expect(backoff.mayTry(at: seconds(1)) == true)
    #expect(backoff.mayTry(at: seconds(1)) == false, "one tries, the others wait")
    backoff.noteSent()
    #expect(backoff.mayTry(at: seconds(1)) == true)
  }

  @Test("Pauses double up to five minutes, less a random half")
  func doubles() {
    for (random, share) in [(1, 1), (0, 0.5), (7, 1), (-3, 0.5)] as [(Double, Double)] {
      var backoff = ReachabilityBackoff()
      var now = noon
      for pause in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Double] {
        #expect(backoff.mayTry(at: now) == true)
        backoff.noteNotSent(at: now, random: random)
        #expect(backoff.mayTry(at: now.addingTimeInterval(pause * share - 0.01)) == false)
        now = now.addingTimeInterval(pause * share)
      }
    }
  }

  @Test("Many requests that failed together make one pause, not many doublings")
  func countsTogetherOnce() {
    var backoff = ReachabilityBackoff()
    for _ in 0..<100 { backoff.noteNotSent(at: noon, random: 1) }
    #expect(backoff.mayTry(at: seconds(1)) == true)
  }

  @Test("Hundreds of failures in a row neither overflow nor pause longer")
  func neverOverflows() {
    var backoff = ReachabilityBackoff()
    var now = noon
    for _ in 0..<500 {
      #expect(backoff.mayTry(at: now) == true)
      backoff.noteNotSent(at: now, random: 1)
      now = now.addingTimeInterval(300)
    }
  }

  @Test("A clock that was ahead and is set right leaves no pause behind")
  func clockSetBack() {
    var backoff = ReachabilityBackoff()
    let ahead = seconds(5 * 86_400)
    backoff.noteNotSent(at: ahead, random: 1)
    #expect(backoff.mayTry(at: noon) == true)
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(1)) == false && backoff.mayTry(at: ahead) == true)
    #expect(backoff.mayTry(at: seconds(2)) == true, "the attempt from ahead has no result")
  }

  @Test("An attempt without a reported result does not block for ever")
  func forgetsLostTries() {
    var backoff = ReachabilityBackoff()
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(1)) == true)
    #expect(backoff.mayTry(at: seconds(30)) == false)
    #expect(backoff.mayTry(at: seconds(31)) == true)
    // One that asked nobody gives its turn back, and one that has begun meanwhile keeps its own.
    backoff.noteNotTried(since: seconds(1))
    #expect(backoff.mayTry(at: seconds(32)) == false)
    backoff.noteNotTried(since: seconds(31))
    #expect(backoff.mayTry(at: seconds(32)) == true)
    #expect(backoff.mayTry(at: seconds(32)) == false)
  }
}
