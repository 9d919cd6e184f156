import Testing

@testable import DataPlane

@Suite("Memory in use")
struct MemoryInUseTests {
  private let memory = MemoryInUse()

  @Test("The configuration of the start is a reason to give memory back, once")
  func start() {
    #expect(memory.giveBackAfterBurst())
    #expect(!memory.giveBackAfterBurst())
  }

  @Test("A reload is a reason to give memory back, once")
  func reload() {
    _ = memory.giveBackAfterBurst()
    memory.noteReload()
    #expect(memory.giveBackAfterBurst())
    #expect(!memory.giveBackAfterBurst())
  }

  @Test("A burst is a reason when it is over, and not before")
  func burst() {
    _ = memory.giveBackAfterBurst()
    memory.changeConnections(by: 300)
    #expect(!memory.giveBackAfterBurst())
    memory.changeConnections(by: -300)
    #expect(memory.giveBackAfterBurst())
    #expect(!memory.giveBackAfterBurst())
  }

  @Test("Responses that waited for their clients are a reason when they do no longer")
  func responses() {
    _ = memory.giveBackAfterBurst()
    memory.changeContent(by: 3 << 20)
    #expect(!memory.giveBackAfterBurst())
    memory.changeContent(by: -3 << 20)
    #expect(memory.giveBackAfterBurst())
    #expect(!memory.giveBackAfterBurst())
  }

  @Test("The coming and going of some connections is not a reason")
  func few() {
    _ = memory.giveBackAfterBurst()
    memory.changeConnections(by: 150)
    memory.changeConnections(by: -150)
    #expect(!memory.giveBackAfterBurst())
  }
}
