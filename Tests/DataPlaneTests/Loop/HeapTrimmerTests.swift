import Testing

@testable import DataPlane

@Suite("Returning memory to the system")
struct HeapTrimmerTests {
  private let memory = MemoryInUse()
  private let trimmer: HeapTrimmer

  init() { trimmer = HeapTrimmer(memory) }

  @Test("The configuration of the start is a reason to return memory, once")
  func start() {
    #expect(trimmer.trimAfterBurst())
    #expect(!trimmer.trimAfterBurst())
  }

  @Test("A reload is a reason to return memory, once")
  func reload() {
    _ = trimmer.trimAfterBurst()
    trimmer.noteReload()
    #expect(trimmer.trimAfterBurst())
    #expect(!trimmer.trimAfterBurst())
  }

  @Test("A burst is a reason when it is over, and not before")
  func burst() {
    _ = trimmer.trimAfterBurst()
    memory.connections.change(by: 300)
    #expect(!trimmer.trimAfterBurst())
    memory.connections.change(by: -300)
    #expect(trimmer.trimAfterBurst())
    #expect(!trimmer.trimAfterBurst())
  }

  @Test("Responses that waited for their clients are a reason when they do no longer")
  func responses() {
    _ = trimmer.trimAfterBurst()
    memory.content.change(by: 3 << 20)
    #expect(!trimmer.trimAfterBurst())
    memory.content.change(by: -3 << 20)
    #expect(trimmer.trimAfterBurst())
    #expect(!trimmer.trimAfterBurst())
  }

  @Test("The coming and going of some connections is not a reason")
  func few() {
    _ = trimmer.trimAfterBurst()
    memory.connections.change(by: 150)
    memory.connections.change(by: -150)
    #expect(!trimmer.trimAfterBurst())
  }
}
