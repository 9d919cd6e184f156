import NIOCore
import Testing

@testable import SocketTransport

@Suite("The descriptors of a loop")
struct EpollSetTests {
  private final class Member: PolledDescriptor {
    func ready(_ readiness: Readiness) {}
    func loopEnds() {}
  }

  /// The set, which cannot be copied, for expectations.
  private final class Watch {
    private var polled: EpollSet
    init() throws { polled = try EpollSet() }
    var count: Int { polled.count }
    var all: [any PolledDescriptor] { polled.all }
    func add(_ member: Member, _ descriptor: CInt, for interest: Readiness) throws {
      try polled.add(member, descriptor, for: interest)
    }
    func change(_ descriptor: CInt, to interest: Readiness) throws { try polled.change(descriptor, to: interest) }
    func remove(_ descriptor: CInt) { polled.remove(descriptor) }
    func forget(_ descriptor: CInt) { polled.forget(descriptor) }
    func wait(atMost limit: CInt = 0) -> Int { polled.wait(atMost: limit) }
    func member(_ index: Int) -> Member? { polled.answer(index)?.member as? Member }
    func readiness(_ index: Int) -> Readiness? { polled.answer(index)?.readiness }
  }

  /// A connected pair whose ends are closed with it.
  private struct Pair: ~Copyable {
    let own: CInt
    let peer: CInt

    init() throws { (own, peer) = try unixPair() }
    func poke() { [1].withUnsafeBytes { _ = SystemSocket.sendBytes(peer, $0) } }
    deinit {
      SystemSocket.close(own)
      SystemSocket.close(peer)
    }
  }

  @Test("A descriptor that is ready is answered with its member, and one that is not is not")
  func answers() throws {
    let set = try Watch()
    let first = try Pair()
    let second = try Pair()
    let (one, two) = (Member(), Member())
    try set.add(one, first.own, for: .input)
    try set.add(two, second.own, for: .input)
    #expect(set.wait() == 0)
    second.poke()
    #expect(set.wait(atMost: -1) == 1)
    #expect(set.member(0) === two && set.readiness(0) == .input)
    #expect(set.count == 2 && set.all.count == 2)
  }

  @Test("Bytes that are there before the registration are answered, and an edge only once")
  func edges() throws {
    let set = try Watch()
    let pair = try Pair()
    pair.poke()
    let member = Member()
    try set.add(member, pair.own, for: [.input, .edges])
    #expect(set.wait() == 1)
    #expect(set.wait() == 0)
    pair.poke()
    #expect(set.wait() == 1)
    try set.change(pair.own, to: [.input, .output, .edges])
    #expect(set.wait() == 1)
    #expect(set.readiness(0) == [.input, .output])
  }

  @Test("A descriptor that was removed is not answered, and can be added again")
  func removed() throws {
    let set = try Watch()
    let pair = try Pair()
    try set.add(Member(), pair.own, for: .input)
    pair.poke()
    set.remove(pair.own)
    #expect(set.wait() == 0)
    #expect(set.count == 0 && set.all.isEmpty)
    let second = Member()
    try set.add(second, pair.own, for: .input)
    #expect(set.wait() == 1)
    #expect(set.member(0) === second)
  }

  @Test("An answer for a descriptor that was closed since is discarded, also when another has its number now")
  func stale() throws {
    let set = try Watch()
    let pair = try Pair()
    try set.add(Member(), pair.own, for: .input)
    pair.poke()
    #expect(set.wait() == 1)
    set.remove(pair.own)
    #expect(set.member(0) == nil)
    // The number again, as of a descriptor that was accepted since.
    let second = Member()
    try set.add(second, pair.own, for: .input)
    #expect(set.member(0) == nil)
    #expect(set.wait() == 1)
    #expect(set.member(0) === second)
  }

  @Test("A descriptor that is there already is not added, and its member still gets its answers")
  func twice() throws {
    let set = try Watch()
    let pair = try Pair()
    let member = Member()
    try set.add(member, pair.own, for: .input)
    do {
      try set.add(Member(), pair.own, for: .input)
      Issue.record("added twice")
    } catch {
      #expect(error is IOError)
    }
    #expect(set.count == 1)
    pair.poke()
    #expect(set.wait() == 1)
    #expect(set.member(0) === member)
  }

  @Test("The end of the peer is answered as such")
  func end() throws {
    let set = try Watch()
    let (own, peer) = try unixPair()
    let member = Member()
    try set.add(member, own, for: [.input, .inputEnd, .edges])
    SystemSocket.endOutput(peer)
    #expect(set.wait() == 1)
    #expect(set.readiness(0) == [.input, .inputEnd])
    SystemSocket.close(peer)
    #expect(set.wait() == 1)
    #expect(set.readiness(0)?.contains(.hangUp) == true)
    set.forget(own)
    SystemSocket.close(own)
  }
}
