import NIOCore
import NIOEmbedded
import RandomTesting
import Testing

@testable import SocketTransport

@Suite("Writes that wait for the system")
struct PendingWritesTests {
  /// Pending writes with a socket, and a loop for promises.
  private final class Rig {
    let descriptor: CInt
    let peer: Peer
    let loop = EmbeddedEventLoop()
    var writes = PendingWrites()
    var spare: [PendingWrites.Entry] = []
    var completed: [Int] = []

    init() throws {
      let pair = try unixPair()
      descriptor = pair.0
      peer = Peer(pair.1)
    }

    deinit { SystemSocket.close(descriptor) }

    func append(_ bytes: [UInt8], _ number: Int? = nil) {
      let promise = number.map { number in
        let promise = loop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [unowned self] _ in completed.append(number) }
        return promise
      }
      writes.append(bytes.buffer, promise, spare: &spare)
    }

    @discardableResult
    func send() -> PendingWrites.Outcome {
      let (outcome, sent) = writes.send(to: descriptor, spare: &spare)
      for promise in sent { promise.succeed() }
      return outcome
    }

    func end() { for promise in writes.takeAll() { promise.fail(ChannelError.eof) } }

    /// The number of entries that the queue keeps.
    var entries: Int { kept?.count ?? -1 }

    /// Bytes that they keep, unused ones too.
    var keptBytes: Int { kept?.map(\.bytes.storageCapacity).reduce(0, +) ?? -1 }

    private var kept: [PendingWrites.Entry]? {
      Mirror(reflecting: writes).descendant("entries") as? [PendingWrites.Entry]
    }
  }

  @Test("Only what was flushed is sent")
  func flushed() throws {
    let rig = try Rig()
    rig.append([1, 2], 0)
    rig.writes.flush()
    rig.append([3], 1)
    #expect(rig.send() == .all)
    #expect(rig.completed == [0])
    #expect(rig.writes.byteCount == 1 && !rig.writes.isEmpty && !rig.writes.hasFlushed)
    rig.writes.flush()
    #expect(rig.send() == .all)
    #expect(rig.completed == [0, 1])
    #expect(rig.writes.byteCount == 0 && rig.writes.isEmpty)
    #expect(rig.peer.received(atMost: 3) == [1, 2, 3])
  }

  @Test("More buffers than one system call takes are sent in their order, empty ones too")
  func many() throws {
    let rig = try Rig()
    var all: [UInt8] = []
    for number in 0..<200 {
      let piece = pattern(number % 5, seed: number)
      all += piece
      rig.append(piece, number)
    }
    rig.writes.flush()
    #expect(rig.send() == .all)
    #expect(rig.completed == Array(0..<200))
    #expect(rig.peer.received(atMost: all.count)?.matches(all) == true)
  }

  @Test("A queue of nothing but empty buffers is sent")
  func empty() throws {
    let rig = try Rig()
    for number in 0..<3 { rig.append([], number) }
    rig.writes.flush()
    #expect(rig.send() == .all)
    #expect(rig.completed == [0, 1, 2] && rig.writes.isEmpty)
  }

  @Test("Bytes that a full socket does not take stay, and follow when there is room")
  func full() throws {
    let rig = try Rig()
    let all = pattern(3_000_000)
    rig.append(all, 0)
    rig.writes.flush()
    #expect(rig.send() == .full)
    #expect(rig.completed.isEmpty && rig.writes.hasFlushed)
    var received: [UInt8] = []
    while received.count < all.count {
      let before = rig.writes.byteCount
      #expect(before + received.count <= all.count)
      received += rig.peer.received(atMost: 100_000) ?? []
      rig.send()
    }
    #expect(received.matches(all))
    #expect(rig.completed == [0])
  }

  @Test("A queue that never becomes empty forgets what has left")
  func neverEmpty() throws {
    let rig = try Rig()
    rig.append(pattern(1_000_000))
    rig.writes.flush()
    #expect(rig.send() == .full)
    let piece = pattern(1_000)
    for _ in 0..<2_000 {
      rig.append(piece)
      rig.writes.flush()
      _ = rig.peer.received(atMost: 1_000)
      rig.send()
      #expect(!rig.writes.isEmpty)
    }
    // Two writes for each kilobyte that has left would be 4,000.
    #expect(rig.entries < 1_500)
    rig.end()
  }

  @Test("A socket that fails says so, and what it has not taken stays for its promises")
  func failed() throws {
    let rig = try Rig()
    rig.peer.endBoth()
    rig.append([1], 0)
    rig.append([2], 1)
    rig.writes.flush()
    guard case .failed = rig.send() else {
      Issue.record("sent to a socket that is closed")
      return rig.end()
    }
    #expect(rig.completed.isEmpty)
    rig.end()
    #expect(rig.completed == [0, 1])
    #expect(rig.writes.isEmpty && rig.writes.byteCount == 0)
  }

  @Test("Little by little that waits for room keeps none of the large buffers that it came in, and goes in its order")
  func merged() throws {
    let rig = try Rig()
    var all = pattern(1 << 20, seed: 0)
    rig.append(all)
    rig.writes.flush()
    #expect(rig.send() == .full)
    let before = rig.keptBytes
    for number in 0..<2_000 {
      let piece = pattern(number % 200, seed: number)
      all += piece
      var large = ByteBufferAllocator().buffer(capacity: 64 * 1024)
      large.writeBytes(piece)
      rig.writes.append(large, nil, spare: &rig.spare)
      rig.writes.flush()
    }
    // Twice the bytes, as a buffer that grows doubles, and one that came last.
    #expect(rig.writes.byteCount > 200_000 && rig.keptBytes - before < 600_000)
    var received: [UInt8] = []
    while received.count < all.count {
      received += rig.peer.received(atMost: 1 << 20) ?? []
      rig.writes.roomReported()
      rig.send()
    }
    #expect(received == all && rig.writes.isEmpty && rig.writes.byteCount == 0)
  }

  @Test("The memory of an empty queue goes to the next one")
  func spare() throws {
    let (first, second) = (try Rig(), try Rig())
    for _ in 0..<20 { first.append([1]) }
    first.writes.flush()
    first.send()
    let capacity = first.spare.capacity
    #expect(capacity >= 20 && first.spare.isEmpty)
    second.spare = first.spare
    first.spare = []
    second.append([1])
    #expect(second.spare.capacity < capacity)
    second.end()
  }

  @Test("Writes, flushes and reads at random deliver the same bytes in order", arguments: 0..<30, [true, false])
  func random(seed: Int, withPromises: Bool) throws {
    var random = SeededNumbers(seed: UInt64(seed))
    let rig = try Rig()
    var (written, received): ([UInt8], [UInt8]) = ([], [])
    var (flushed, number) = (0, 0)
    for _ in 0..<300 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0..<3:
        let sizes = [0, 1, 10, 1_000, 70_000]
        let piece = pattern(sizes.randomElement(using: &random) ?? 0, seed: number)
        rig.append(piece, withPromises ? number : nil)
        number += 1
        written += piece
      case 3:
        rig.writes.flush()
        flushed = written.count
        rig.send()
      case 4: rig.send()
      default: received += rig.peer.received(atMost: Int.random(in: 1..<200_000, using: &random)) ?? []
      }
      // Little that waits goes together with what was flushed before it.
      #expect(received.count <= (withPromises ? flushed : written.count))
      #expect(rig.writes.byteCount <= written.count - received.count)
    }
    rig.writes.flush()
    while received.count < written.count {
      rig.send()
      received += rig.peer.received(atMost: 1 << 20) ?? []
    }
    rig.send()
    #expect(received.matches(written))
    #expect(rig.completed == (withPromises ? Array(0..<number) : []))
    #expect(rig.writes.isEmpty && rig.writes.byteCount == 0)
  }
}
