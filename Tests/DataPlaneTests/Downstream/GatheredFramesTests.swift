import NIOCore
import Testing

@testable import DataPlane

@Suite("Frames that are gathered within a turn")
struct GatheredFramesTests {
  /// A pool that lends one more buffer.
  private func fullPool() -> BufferPool {
    var pool = BufferPool.frames
    for _ in 0..<15 { _ = pool.lend() }
    return pool
  }

  /// Whether a pool lends another buffer, which is not given back.
  private func lends(_ pool: inout BufferPool) -> Bool { pool.lend() != nil }

  @Test("Frames are gathered in one buffer that the pool has lent, and its loan ends when they are taken")
  func loan() throws {
    var pool = fullPool()
    var gathered = GatheredFrames()
    #expect(gathered.isEmpty)
    for part in ["one ", "two"] {
      let opened = gathered.open(&pool)
      var frames = try #require(opened)
      frames.writeString(part)
      gathered.keep(frames)
    }
    #expect(!gathered.isEmpty)
    var others = GatheredFrames()
    let refused = others.open(&pool)
    #expect(refused == nil, "the pool lends no more")
    let frames = gathered.take(&pool)
    #expect(frames == ByteBuffer(string: "one two") && gathered.isEmpty)
    let isFree = lends(&pool)
    #expect(isFree)
  }

  @Test("An empty buffer, which is no loan, is taken if nothing was gathered")
  func nothing() {
    var pool = fullPool()
    var gathered = GatheredFrames()
    let frames = gathered.take(&pool)
    #expect(frames.readableBytes == 0)
    gathered.discard(&pool)
    let answers = [lends(&pool), lends(&pool)]
    #expect(answers == [true, false], "neither has ended a loan")
  }

  @Test("Frames that are discarded end their loan, and leave nothing to take")
  func discarded() throws {
    var pool = fullPool()
    var gathered = GatheredFrames()
    let opened = gathered.open(&pool)
    var frames = try #require(opened)
    frames.writeString("unsent")
    gathered.keep(frames)
    gathered.discard(&pool)
    #expect(gathered.isEmpty)
    let next = gathered.take(&pool)
    #expect(next.readableBytes == 0)
    let isFree = lends(&pool)
    #expect(isFree)
  }
}
