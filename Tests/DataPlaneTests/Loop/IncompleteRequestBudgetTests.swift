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
