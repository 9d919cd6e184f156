import Testing

@testable import DataPlane

// What HTTP/2 connections hold of content that waits: from half of the limit on it is scarce, and beyond it the owner
// that holds most gives up.

@Suite("The budget of content that waits")
struct ContentBudgetTests {
  private final class Owner: ContentBudgetOwner {
    var hasGivenUp = false
    func giveUp(_ kind: ContentBudget.Kind) { hasGivenUp = kind == .unsentResponses }
  }

  private let memory = MemoryInUse()
  private let responses: ContentBudget
  private let owners = (0..<4).map { _ in Owner() }

  init() { responses = ContentBudget(.unsentResponses, limit: 1_000, memory: memory) }

  private var givenUp: [Int] { owners.indices.filter { owners[$0].hasGivenUp } }

  @Test("Up to the limit nobody gives up")
  func within() {
    for owner in owners { responses.hold(250, by: owner) }
    #expect(givenUp == [])
  }

  @Test("Memory is scarce from half of the limit on, and no longer when it was sent")
  func scarce() {
    responses.hold(500, by: owners[0])
    #expect(!responses.isScarce)
    responses.hold(1, by: owners[1])
    #expect(responses.isScarce)
    responses.hold(499, by: owners[0])
    #expect(!responses.isScarce)
  }

  @Test("Beyond the limit the owner that holds most gives up, not the one that came last")
  func most() {
    responses.hold(200, by: owners[0])
    responses.hold(600, by: owners[1])
    responses.hold(200, by: owners[2])
    responses.hold(1, by: owners[3])
    #expect(givenUp == [1])
    #expect(!responses.isScarce, "what it held is counted no longer")
  }

  @Test("As many give up as it takes")
  func several() {
    for owner in owners.prefix(3) { responses.hold(300, by: owner) }
    responses.hold(900, by: owners[3])
    #expect(givenUp == [3], "one is enough")
    for owner in owners.prefix(3) { responses.hold(340, by: owner) }
    #expect(givenUp.count == 2)
  }

  @Test("Each owner that gives up is counted once, and nobody else is")
  func counted() {
    for owner in owners { responses.hold(250, by: owner) }
    #expect(memory.unsentClosures == 0)
    responses.hold(251, by: owners[0])
    #expect(memory.unsentClosures == 1)
    responses.hold(0, by: owners[1])
    #expect(memory.unsentClosures == 1)
    responses.hold(1_001, by: owners[2])
    #expect(givenUp == [0, 2] && memory.unsentClosures == 2)
  }

  @Test("Closures for unread bodies are counted apart from those for unsent responses")
  func kinds() {
    let bodies = ContentBudget(.unreadBodies, limit: 1_000, memory: memory)
    bodies.hold(1_001, by: owners[0])
    #expect(memory.unreadClosures == 1 && memory.unsentClosures == 0)
    responses.hold(1_001, by: owners[0])
    #expect(memory.unreadClosures == 1 && memory.unsentClosures == 1)
  }

  @Test("A connection is counted with what it holds beyond the allowance, each time that it changes")
  func count() {
    var count = ContentBudget.Count()
    let allowance = ContentBudget.allowance
    let changes = [allowance, allowance + 5, allowance + 5, 0].map { count.change(to: $0) }
    #expect(changes == [nil, 5, nil, 0])
  }

  @Test("A connection that has ended is counted no longer, and says whether it was")
  func ended() {
    var (some, none) = (ContentBudget.Count(), ContentBudget.Count())
    _ = some.change(to: ContentBudget.allowance + 1)
    let ends = [some.end(), none.end(), some.end()]
    #expect(ends == [true, false, false], "only once")
    let later = some.change(to: 2 * ContentBudget.allowance)
    #expect(later == nil)
  }

  @Test("One that holds more than the limit by itself gives up")
  func alone() {
    responses.hold(1_001, by: owners[0])
    #expect(givenUp == [0])
    #expect(!responses.isScarce)
  }

  @Test("A new count replaces the one before, and one that holds nothing is not counted")
  func replaced() {
    for count in [900, 100, 900, 0] { responses.hold(count, by: owners[0]) }
    responses.hold(900, by: owners[1])
    #expect(givenUp == [])
    responses.hold(0, by: owners[1])
    #expect(!responses.isScarce)
  }

  @Test("An owner that holds nothing is not retained")
  func released() {
    weak var gone: Owner?
    do {
      let owner = Owner()
      gone = owner
      responses.hold(10, by: owner)
      responses.hold(0, by: owner)
    }
    #expect(gone == nil)
  }
}
