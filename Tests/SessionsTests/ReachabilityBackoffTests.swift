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

  @Test("Requests without an answer of use begin a pause with the third that began since Apple last gave one")
  func inconclusive() {
    var backoff = ReachabilityBackoff()
    for begin in [0, 100, 200] as [Double] {
      for _ in 0..<2 { backoff.noteInconclusive(since: seconds(begin), at: seconds(begin + 12), random: 1) }
      #expect(backoff.mayTry(at: seconds(begin + 12)) == true)
      backoff.noteAnswered(at: seconds(begin + 50))
    }
    for _ in 0..<9 { backoff.noteInconclusive(since: seconds(249), at: seconds(261), random: 1) }
    #expect(backoff.mayTry(at: seconds(261)) == true, "they were slow: Apple has answered another one meanwhile")
    for _ in 0..<3 { backoff.noteInconclusive(since: seconds(300), at: seconds(312), random: 1) }
    #expect(backoff.mayTry(at: seconds(312.9)) == false)
    #expect(backoff.mayTry(at: seconds(313)) == true)
    backoff.noteInconclusive(since: seconds(302), at: seconds(314), random: 1)
    #expect(backoff.mayTry(at: seconds(324)) == false, "the attempt is still waiting")
    backoff.noteInconclusive(since: seconds(313), at: seconds(325), random: 1)
    #expect(backoff.mayTry(at: seconds(326.9)) == false, "the second pause is longer")
    #expect(backoff.mayTry(at: seconds(327)) == true)
    backoff.noteAnswered(at: seconds(328))
    backoff.noteInconclusive(since: seconds(328), at: seconds(340), random: 1)
    #expect(backoff.mayTry(at: seconds(340)) == true && backoff.mayTry(at: seconds(340)) == true)
  }

  @Test("The attempt after a pause that gets no answer of use failed; a request of another kind allows the next")
  func inconclusiveAttempt() {
    var backoff = ReachabilityBackoff()
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(1)) == true)
    backoff.noteInconclusive(since: seconds(1), at: seconds(13), random: 1)
    #expect(backoff.mayTry(at: seconds(14.9)) == false)
    #expect(backoff.mayTry(at: seconds(15)) == true)
    for _ in 0..<2 { backoff.noteInconclusive(since: seconds(15), at: seconds(27), random: 1) }
    #expect(backoff.mayTry(at: seconds(27)) == false)
    backoff.noteSent()
    #expect(backoff.mayTry(at: seconds(27)) == true)
    #expect(backoff.mayTry(at: seconds(27)) == false, "one shows whether revalidations are answered again")
    backoff.noteAnswered(at: seconds(28))
    #expect(backoff.mayTry(at: seconds(28)) == true && backoff.mayTry(at: seconds(28)) == true)
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
    backoff.noteAnswered(at: ahead)
    for _ in 0..<3 { backoff.noteInconclusive(since: seconds(10), at: seconds(22), random: 1) }
    #expect(backoff.mayTry(at: seconds(22)) == false, "the answer is from ahead")
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
