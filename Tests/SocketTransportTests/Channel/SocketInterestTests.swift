import Testing

@testable import SocketTransport

@Suite("The changes that are asked for of a socket")
struct SocketInterestTests {
  /// The interest of a registered socket.
  private func registered(isLocal: Bool) -> SocketInterest {
    var interest = SocketInterest(isLocal: isLocal)
    let all = interest.beginning(with: .stream)
    #expect(all == Readiness.stream.union(.edges))
    interest.registered()
    return interest
  }

  @Test("Room that is wanted before the registration is registered with the rest")
  func early() {
    var interest = SocketInterest(isLocal: false)
    let told = interest.roomIsWanted()
    #expect(told == nil && !interest.isRegistered)
    let all = interest.beginning(with: .stream)
    #expect(all == Readiness.stream.union(.output).union(.edges))
    interest.registered()
    #expect(interest.isRegistered)
    let again = interest.roomIsWanted()
    #expect(again == nil, "the loop knows")
  }

  @Test("A TCP socket is asked for room once, and goes on reporting it")
  func tcp() {
    var interest = registered(isLocal: false)
    let told = [interest.roomIsWanted(), interest.allHasLeft(), interest.roomIsWanted()]
    #expect(told == [Readiness.stream.union(.output).union(.edges), nil, nil])
  }

  @Test("A Unix socket is asked for room only while something waits")
  func local() {
    var interest = registered(isLocal: true)
    let (without, with) = (Readiness.stream.union(.edges), Readiness.stream.union(.output).union(.edges))
    let told = [
      interest.allHasLeft(), interest.roomIsWanted(), interest.roomIsWanted(), interest.allHasLeft(),
      interest.roomIsWanted(),
    ]
    #expect(told == [nil, with, nil, without, with])
  }
}
