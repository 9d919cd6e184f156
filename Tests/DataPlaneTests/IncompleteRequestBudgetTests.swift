import NIOCore
import Testing

@testable import DataPlane

@Suite("Memory for requests that are not whole")
struct IncompleteRequestBudgetTests {
  private final class Owner: IncompleteRequestOwner {
    let incompleteRequests: IncompleteRequestBudget
    var holding: IncompleteRequestBudget.Holding?
    var hasGivenUp = false

    init(_ heads: IncompleteRequestBudget) { incompleteRequests = heads }

    func giveUpRequest() {
      hasGivenUp = true
      releaseHolding()
    }
  }

  @Test("The owners that have held memory for longest give it up, once, and as many as necessary")
  func oldest() {
    let memory = MemoryInUse()
    let heads = IncompleteRequestBudget(limit: 100, memory: memory)
    let owners = (0..<5).map { _ in Owner(heads) }
    for owner in owners[..<4] { owner.hold(25) }
    #expect(owners.allSatisfy { !$0.hasGivenUp })
    owners[1].releaseHolding()
    owners[4].hold(25)
    #expect(owners.allSatisfy { !$0.hasGivenUp } && memory.unfinishedRefusals == 0)
    owners[4].hold(60)
    #expect(owners.map(\.hasGivenUp) == [true, false, true, false, false])
    #expect(memory.unfinishedRefusals == 2)
    owners[3].hold(200)
    #expect(owners.map(\.hasGivenUp) == [true, false, true, true, false])
    #expect(memory.unfinishedRefusals == 3)
    owners[4].releaseHolding()
    owners[0].hold(100)
    #expect(owners[0].holding != nil)
    owners[0].releaseHolding()
    #expect(memory.unfinishedRefusals == 3 && memory.headBytes == 0)
  }

  @Test("A limit is raised for what is larger, and never lowered")
  func raised() {
    let heads = IncompleteRequestBudget(limit: 100, memory: MemoryInUse())
    let owners = (0..<3).map { _ in Owner(heads) }
    heads.raiseLimit(to: 200)
    heads.raiseLimit(to: 50)
    for owner in owners[..<2] { owner.hold(100) }
    #expect(owners.allSatisfy { !$0.hasGivenUp })
    owners[2].hold(1)
    #expect(owners.map(\.hasGivenUp) == [true, false, false])
  }
}

@Suite("The pace at which a client takes a response")
struct ResponsePaceTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  /// Looks once a second at a client that takes so many bytes in each; after how many seconds it is over.
  private func end(rate: Int, taking bytes: Int, patience: Int64 = 60) -> Int? {
    var pace = ResponsePace(sent: 1 << 20, waiting: 1 << 20, at: start)
    for second in 1...300 {
      let verdict = pace.look(
        sent: 1 << 20, waiting: max(0, (1 << 20) - bytes * second), at: start + .seconds(Int64(second)), rate: rate,
        grace: .seconds(10), patience: .seconds(patience))
      if verdict == .isOver { return second }
    }
    return nil
  }

  @Test("A client below the minimum rate is ended soon after the grace, one at the rate never")
  func rates() {
    #expect(end(rate: 240, taking: 6) == 11)
    #expect(end(rate: 240, taking: 240) == nil)
    #expect(end(rate: 240, taking: 3_000) == nil)
    #expect(end(rate: 0, taking: 1) == nil)
  }

  @Test("A client that takes nothing is ended after the patience, whatever the minimum rate", arguments: [0, 240])
  func silence(rate: Int) {
    #expect(end(rate: rate, taking: 0, patience: 60) == 60)
  }

  @Test("A client that pauses for less than the patience goes on; one that takes a few bytes afterwards is ended")
  func pause() {
    for (bytes, verdict) in [(200_000, ResponsePace.Verdict.goesOn), (100, .isOver)] {
      var pace = ResponsePace(sent: 1 << 20, waiting: 1 << 20, at: start)
      func look(_ taken: Int, at second: Int64) -> ResponsePace.Verdict {
        pace.look(
          sent: 1 << 20, waiting: (1 << 20) - taken, at: start + .seconds(second), rate: 240, grace: .seconds(10),
          patience: .seconds(60))
      }
      #expect(look(100_000, at: 1) == .goesOn)
      for second in Int64(2)...50 { #expect(look(100_000, at: second) == .goesOn) }
      #expect(look(100_000 + bytes, at: 51) == verdict)
    }
  }

  @Test("Bytes that were taken fast at first are no credit for later")
  func credit() {
    var pace = ResponsePace(sent: 0, waiting: 0, at: start)
    func look(_ taken: Int, at second: Int64) -> ResponsePace.Verdict {
      pace.look(
        sent: taken + 100_000, waiting: 100_000, at: start + .seconds(second), rate: 240, grace: .seconds(10),
        patience: .seconds(60))
    }
    #expect(look(50 << 20, at: 1) == .goesOn)
    #expect(look((50 << 20) + 60, at: 11) == .goesOn)
    #expect(look((50 << 20) + 72, at: 13) == .isOver)
  }
}
