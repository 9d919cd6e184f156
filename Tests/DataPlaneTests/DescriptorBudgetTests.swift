import NIOCore
import Synchronization
import Testing

@testable import DataPlane

@Suite("The budget of descriptors")
struct DescriptorBudgetTests {
  @Test("A reserve stays free, a share of a limit that is small")
  func shares() {
    let usual = DescriptorBudget.Shares(limit: 65_536, others: 30, sockets: 3)
    #expect(usual.reserve == 76)
    #expect(usual.shared == 65_536 - 30 - 76)
    let small = DescriptorBudget.Shares(limit: 64, others: 30, sockets: 3)
    #expect(small.reserve == 16)
    #expect(small.shared == 18)
    #expect(DescriptorBudget.Shares(limit: 16, others: 30).shared == 4)
  }

  @Test("Neither clients nor upstream connections take all descriptors, and none takes the reserve")
  func exhaustion() {
    let budget = DescriptorBudget(limit: 400, others: 36)
    func takeAll(_ use: DescriptorBudget.Use) -> Int {
      var count = 0
      while count < 1_000, budget.take(use) { count += 1 }
      return count
    }
    #expect(takeAll(.client) == 225)
    #expect(takeAll(.upstream) == 75)
    #expect(budget.room(for: .client) == 0)
    #expect(budget.refusals == 2)
    #expect(takeAll(.own) == 16)
    #expect(takeAll(.administration) == 16)
    budget.give(.client)
    #expect(!budget.take(.client))
    for _ in 0..<16 {
      budget.give(.own)
      budget.give(.administration)
    }
    #expect(budget.take(.client))
    #expect(!budget.take(.client))
  }
}

@Suite("The room for connections to an address")
struct UpstreamRoomTests {
  /// Keeps what its desk was called for.
  private final class Calls: Sendable {
    private let state = Mutex<[UpstreamRoom.Call]>([])
    var all: [UpstreamRoom.Call] { state.withLock { $0 } }
    var desk: UpstreamRoom.Desk { { call in self.state.withLock { $0.append(call) } } }
  }

  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  @Test("The request that has waited longest is granted a connection first, on whichever loop it waits")
  func order() {
    let room = UpstreamRoom(limit: 1, queueLimit: 2)
    let (one, other) = (Calls(), Calls())
    let (first, second) = (room.open(one.desk), room.open(other.desk))
    #expect(room.ask(at: first, now: start) == .taken)
    #expect(room.ask(at: second, now: start) == .queued)
    #expect(one.all == [.yieldIdle])
    #expect(room.ask(at: first, now: start) == .queued)
    #expect(room.ask(at: first, now: start) == .full)
    room.release()
    #expect(other.all == [.yieldIdle, .grant])
    room.release()
    #expect(one.all == [.yieldIdle, .grant])
    #expect(!room.isWaitedFor)
    room.release()
    #expect(room.ask(at: second, now: start) == .taken)
  }

  @Test("A connection that comes back serves its own loop, unless another has waited noticeably longer")
  func turns() {
    let room = UpstreamRoom(limit: 1, queueLimit: 9)
    let (first, second) = (room.open { _ in }, room.open { _ in })
    #expect(room.ask(at: first, now: start) == .taken)
    #expect(room.turn(at: first) == .nobody)
    #expect(room.ask(at: second, now: start) == .queued)
    #expect(room.turn(at: first) == .another)
    #expect(room.ask(at: first, now: start + .milliseconds(50)) == .queued)
    #expect(room.ask(at: first, now: start + .milliseconds(500)) == .queued)
    #expect(room.turn(at: first) == .own)
    #expect(room.turn(at: first) == .another)
    room.withdraw(from: second)
    #expect(room.turn(at: first) == .own)
    #expect(room.turn(at: first) == .nobody)
  }

  @Test("Requests do not wait when there is no limit")
  func unlimited() {
    let room = UpstreamRoom(limit: 0, queueLimit: 0)
    let desk = room.open { _ in }
    for _ in 0..<10_000 { #expect(room.ask(at: desk, now: start) == .taken) }
    room.release()
    #expect(!room.isWaitedFor)
  }
}
