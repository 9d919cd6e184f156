import CNghttp2
import Testing

@testable import HTTPWire

@Suite("Memory for nghttp2")
struct HTTP2MemoryTests {
  private let memory = HTTP2Memory()

  private func take(_ size: Int) -> UnsafeMutableRawPointer? {
    memory.functions.malloc(size, memory.functions.mem_user_data)
  }

  private func give(_ block: UnsafeMutableRawPointer?) { memory.functions.free(block, memory.functions.mem_user_data) }

  @Test("Blocks of every size are their own, aligned, and keep what is written")
  func blocks() throws {
    var blocks: [(UnsafeMutableRawPointer, Int)] = []
    for round in 0..<3 {
      for size in [0, 1, 15, 16, 17, 100, 1_008, 1_023, 1_024, 1_025, 5_000, 100_000] + Array(1...200) {
        let block = try #require(take(size))
        #expect(Int(bitPattern: block) % 16 == 0)
        block.initializeMemory(as: UInt8.self, repeating: UInt8(blocks.count % 251), count: size)
        blocks.append((block, size))
      }
      for (index, (block, size)) in blocks.enumerated() {
        let bytes = UnsafeRawBufferPointer(start: block, count: size)
        #expect(bytes.allSatisfy { $0 == UInt8(index % 251) }, "round \(round), \(size) bytes")
      }
      // Half of them, so that what comes next is partly used memory and partly new.
      if round < 2 {
        for index in stride(from: blocks.count - 1, through: 0, by: -2) { give(blocks.remove(at: index).0) }
        for (index, (block, size)) in blocks.enumerated() {
          block.initializeMemory(as: UInt8.self, repeating: UInt8(index % 251), count: size)
        }
      }
    }
    for (block, _) in blocks { give(block) }
  }

  @Test("Returned memory is lent again, until it is released")
  func again() throws {
    let first = try #require(take(100))
    give(first)
    let second = try #require(take(97))
    #expect(second == first)
    let third = try #require(take(97))
    #expect(third != second)
    give(second)
    give(third)
    give(nil)
    #expect(memory.spare[7] == third)
    memory.release()
    #expect((0...64).allSatisfy { memory.spare[$0] == nil })
  }

  @Test("A block that changes its size keeps its bytes, in either direction and beyond what is kept")
  func change() throws {
    let functions = memory.functions
    var block = try #require(functions.realloc(nil, 10, functions.mem_user_data))
    for place in 0..<10 { block.storeBytes(of: UInt8(place), toByteOffset: place, as: UInt8.self) }
    for size in [11, 16, 17, 1_000, 1_024, 1_025, 70_000, 900, 10] {
      block = try #require(functions.realloc(block, size, functions.mem_user_data))
      #expect((0..<10).allSatisfy { block.load(fromByteOffset: $0, as: UInt8.self) == UInt8($0) }, "\(size)")
    }
    give(block)
  }

  @Test("Cleared memory is clear although it was used, and what is too much is refused")
  func clear() throws {
    let functions = memory.functions
    let used = try #require(take(320))
    used.initializeMemory(as: UInt8.self, repeating: 0xFF, count: 320)
    give(used)
    let block = try #require(functions.calloc(40, 8, functions.mem_user_data))
    #expect(UnsafeRawBufferPointer(start: block, count: 320).allSatisfy { $0 == 0 })
    give(block)
    #expect(functions.calloc(.max, 8, functions.mem_user_data) == nil)
    #expect(take(Int(Int32.max) + 1) == nil)
  }
}
