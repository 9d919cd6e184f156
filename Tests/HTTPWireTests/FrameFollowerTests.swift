import Testing

@testable import HTTPWire

@Suite("Following WebSocket frames")
struct FrameFollowerTests {
  private static func frame(_ opcode: UInt8, _ count: Int, masked: Bool = false) -> [UInt8] {
    let mask: UInt8 = masked ? 0x80 : 0
    var bytes: [UInt8] = [0x80 | opcode]
    switch count {
    case ..<126: bytes.append(mask | UInt8(count))
    case ..<65_536: bytes += [mask | 126, UInt8(count >> 8), UInt8(count & 255)]
    default: bytes += [mask | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    }
    // Bytes that look like the head of a Close frame.
    return bytes + (masked ? [1, 2, 3, 4] : []) + (0..<count).map { $0 % 2 == 0 ? 0x88 : 0x02 }
  }

  @Test(
    "The end of a frame is found, of each form of length, byte by byte and at once",
    arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 70_000], [false, true])
  func lengths(count: Int, masked: Bool) {
    let frame = Self.frame(0x2, count, masked: masked)
    var whole = FrameFollower()
    #expect(whole.isAtBoundary)
    whole.follow(frame)
    #expect(whole.isAtBoundary && !whole.hasClosed && !whole.isLost)
    var slow = FrameFollower()
    for (index, byte) in frame.enumerated() {
      slow.follow([byte])
      #expect(slow.isAtBoundary == (index == frame.count - 1))
    }
  }

  @Test("The first boundary within bytes is reported, and bytes after it are not read")
  func boundary() {
    let (first, second) = (Self.frame(0x1, 300), Self.frame(0x1, 5))
    let cut = Array(first[200...] + second)
    var follower = FrameFollower()
    follower.follow(Array(first[..<200]))
    #expect(!follower.isAtBoundary)
    #expect(follower.followToBoundary(cut) == first.count - 200)
    #expect(follower.isAtBoundary)
    follower.follow(Array(second[..<3]))
    #expect(follower.followToBoundary([1]) == nil && !follower.isAtBoundary)
  }

  @Test("Any part of a data frame is reported once; control frames are not")
  func dataFrames() {
    var follower = FrameFollower()
    for opcode: UInt8 in [0x8, 0x9, 0xA] { follower.follow(Self.frame(opcode, 10, masked: true)) }
    let afterControl = follower.takeDataFrames()
    #expect(!afterControl)
    for opcode: UInt8 in [0x0, 0x1, 0x2] {
      let frame = Self.frame(opcode, 10, masked: true)
      for part in [frame[..<1], frame[1..<6], frame[6...]] {
        follower.follow(Array(part))
        let (first, second) = (follower.takeDataFrames(), follower.takeDataFrames())
        #expect(first == (part.startIndex != 1), "the rest of a header is not news")
        #expect(!second)
      }
    }
  }

  @Test("A Close frame has its status, most significant byte first")
  func statuses() {
    #expect(CloseStatus.goingAway.frame == [0x88, 0x02, 0x03, 0xE9])
    #expect(CloseStatus.policyViolation.frame == [0x88, 0x02, 0x03, 0xF0])
  }

  @Test("A Close frame is seen, and nothing that only looks like one")
  func closing() {
    var follower = FrameFollower()
    follower.follow(Self.frame(0x2, 400))
    #expect(!follower.hasClosed)
    follower.follow(CloseStatus.goingAway.frame)
    #expect(follower.hasClosed && follower.isAtBoundary)
  }

  @Test("A length that no frame has makes everything unknown")
  func lost() {
    var follower = FrameFollower()
    follower.follow([0x82, 127, 0x80] + [UInt8](repeating: 0, count: 7))
    #expect(follower.isLost && !follower.isAtBoundary)
    #expect(follower.followToBoundary(Self.frame(0x1, 5)) == nil)
  }
}

extension FrameFollower {
  fileprivate mutating func follow(_ bytes: [UInt8]) { follow(bytes.span.bytes) }
  fileprivate mutating func followToBoundary(_ bytes: [UInt8]) -> Int? { followToBoundary(bytes.span.bytes) }
}
