import Testing

@testable import DataPlane

// What HTTP/2 connections hold of responses that their clients do not read: from half of the limit on it is scarce, and
// beyond it the owner that holds most gives up.

@Suite("Unsent responses")
struct UnsentResponseTests {
  private final class Owner: UnsentResponseOwner {
    var hasGivenUp = false
    func giveUpResponses() { hasGivenUp = true }
  }

  private let memory = MemoryInUse()
  private let responses: UnsentResponses
  private let owners = (0..<4).map { _ in Owner() }

  init() { responses = UnsentResponses(limit: 1_000, memory: memory) }

  private var givenUp: [Int] { owners.indices.filter { owners[$0].hasGivenUp } }

  @Test("Up to the limit nobody gives up")
  func within() {
    for owner in owners { responses.hold(250, by: owner) }
    #expect(givenUp == [])
  }

  @Test("Memory is scarce from half of the limit on, and no longer when it was sent")
  func scarce() {
    responses.hold(500, by: owners[0])
    #expect(!responses.areScarce)
    responses.hold(1, by: owners[1])
    #expect(responses.areScarce)
    responses.hold(499, by: owners[0])
    #expect(!responses.areScarce)
  }

  @Test("Beyond the limit the owner that holds most gives up, not the one that came last")
  func most() {
    responses.hold(200, by: owners[0])
    responses.hold(600, by: owners[1])
    responses.hold(200, by: owners[2])
    responses.hold(1, by: owners[3])
    #expect(givenUp == [1])
    #expect(!responses.areScarce, "what it held is counted no longer")
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

  @Test("One that holds more than the limit by itself gives up")
  func alone() {
    responses.hold(1_001, by: owners[0])
    #expect(givenUp == [0])
    #expect(!responses.areScarce)
  }

  @Test("A new count replaces the one before, and one that holds nothing is not counted")
  func replaced() {
    for count in [900, 100, 900, 0] { responses.hold(count, by: owners[0]) }
    responses.hold(900, by: owners[1])
    #expect(givenUp == [])
    responses.hold(0, by: owners[1])
    #expect(!responses.areScarce)
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
