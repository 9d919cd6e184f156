import Testing

@testable import SocketTransport

@Suite("The input of a channel")
struct InputStateTests {
  private func state(isReady: Bool = false, _ steps: (inout InputState) -> Void) -> InputState {
    var state = InputState(isReady: isReady)
    steps(&state)
    return state
  }

  @Test("A read is due when it is asked for and there may be something to read, in either order")
  func due() {
    #expect(!state(isReady: true) { _ in }.isDue)
    #expect(state(isReady: true) { $0.ask() }.isDue)
    #expect(!state { $0.ask() }.isDue)
    let askedFirst = state {
      $0.ask()
      $0.reported()
    }
    let reportedFirst = state {
      $0.reported()
      $0.ask()
    }
    #expect(askedFirst.isDue && reportedFirst.isDue)
  }

  @Test(
    "A read that fills its buffer leaves more to read, a short one waits for the next report, and both were asked for")
  func received() {
    for filled in [true, false] {
      let after = state(isReady: true) {
        $0.ask()
        $0.received(filled: filled)
      }
      #expect(after.isReady == filled && !after.isWanted)
    }
    let empty = state(isReady: true) {
      $0.ask()
      $0.drained()
    }
    #expect(!empty.isReady && empty.isWanted)
  }

  @Test("Up to a reported end there is always something to read, since nothing else is reported")
  func endReported() {
    let after = state {
      $0.reportedEnd(isHungUp: false)
      $0.received(filled: false)
    }
    #expect(after.isReady)
  }

  @Test("After an urgent byte a short read leaves more to read, until there is nothing")
  func urgent() {
    var after = state {
      $0.reportedUrgent()
      $0.reported()
      $0.received(filled: false)
    }
    #expect(after.isReady)
    after.received(filled: false)
    #expect(after.isReady)
    after.drained()
    #expect(!after.isReady)
    after.reported()
    after.received(filled: false)
    #expect(!after.isReady)
    let ended = state {
      $0.end()
      $0.reportedUrgent()
    }
    #expect(ended.hasEnded && !ended.isReady)
  }

  @Test("The end may be next when it was reported, and nothing is asked for that would meet it")
  func mayBeAtEnd() {
    #expect(!state(isReady: true) { _ in }.mayBeAtEnd)
    #expect(!state { $0.reported() }.mayBeAtEnd)
    #expect(state { $0.reportedEnd(isHungUp: false) }.mayBeAtEnd)
    let asked = state {
      $0.ask()
      $0.reportedEnd(isHungUp: false)
    }
    #expect(!asked.mayBeAtEnd && asked.isDue)
    let ended = state {
      $0.reportedEnd(isHungUp: false)
      $0.end()
    }
    #expect(!ended.mayBeAtEnd)
  }

  @Test("Bytes that were found before the end stay until a read takes them, whatever is reported meanwhile")
  func foundBytes() {
    var found = state {
      $0.reportedEnd(isHungUp: false)
      $0.foundBytes()
      $0.reportedEnd(isHungUp: true)
    }
    #expect(!found.mayBeAtEnd && !found.isDue && found.isHungUp)
    found.ask()
    #expect(found.isDue)
    found.received(filled: false)
    #expect(found.mayBeAtEnd)
  }

  @Test("Towards a reported end a little is read that nobody asks for, and then only what is asked for")
  func ahead() {
    #expect(!state(isReady: true) { $0.ask() }.isDueTowardsEnd, "no end was reported")
    var after = state { $0.reportedEnd(isHungUp: false) }
    #expect(after.isDueTowardsEnd && !after.isDue)
    after.readAhead(InputState.mostBytesAhead - 1)
    #expect(after.isDueTowardsEnd)
    after.readAhead(1)
    #expect(!after.isDueTowardsEnd)
    after.reportedEnd(isHungUp: true)
    #expect(!after.isDueTowardsEnd, "another report allows no more")
    after.ask()
    #expect(after.isDueTowardsEnd)
    after.drained()
    #expect(!after.isDueTowardsEnd, "there is nothing")
  }

  @Test("After the end nothing is read, whatever is asked for and reported")
  func ended() {
    var after = state(isReady: true) {
      $0.ask()
      $0.end()
      $0.reported()
      $0.reportedEnd(isHungUp: false)
      $0.ask()
    }
    #expect(after.hasEnded && !after.isReady && !after.isDue)
    let isScheduled = after.schedule()
    #expect(!isScheduled)
  }

  @Test("A due read is scheduled once, and not while the channel reads by itself")
  func turns() {
    var after = state(isReady: true) { $0.ask() }
    func schedule() -> Bool { after.schedule() }
    #expect(schedule())
    #expect(!schedule())
    after.endReading()
    #expect(schedule())
    after.beginReading()
    #expect(!schedule())
    after.endReading()
    after.drained()
    #expect(!schedule())
  }
}
