import HTTPWire
import NIOCore
import Testing

@testable import DataPlane

// Cases: every purpose of the deadline, the two parts of idling, what each time-out does, no restart by other events,
// the ends, which happen once.

@Suite("The life of an HTTP/2 client connection")
struct HTTP2ConnectionLifeTests {
  private typealias Life = HTTP2ConnectionLife

  private let waits = ClientWaits(
    head: .seconds(10), bodyProgress: .seconds(30), idle: .seconds(60), writeProgress: .seconds(20),
    handshake: .seconds(5))

  private func traffic(isWritable: Bool = true, isWithinHead: Bool = false, hasStreams: Bool = false) -> Life.Traffic {
    Life.Traffic(isWritable: isWritable, isWithinHead: isWithinHead, hasStreams: hasStreams)
  }

  /// A life in which a request has come, and which waits for nothing.
  private func serving() -> Life {
    var life = Life()
    life.beginServing()
    #expect(life.update(traffic(hasStreams: true), waits) == nil)
    return life
  }

  @Test("A new connection has the time of a head for its first request, and is told to calm down if that has begun")
  func first() {
    var life = Life()
    #expect(life.update(traffic(), waits) == .after(.seconds(10)))
    #expect(life.update(traffic(), waits) == nil, "other events do not restart it")
    #expect(life.timedOut(isWritable: true, waits) == .terminate(.noError))
    #expect(life.timedOut(isWritable: true, isWithinHead: true, waits) == .terminate(.enhanceYourCalm))
    #expect(life.timedOut(isWritable: false, waits) == .abort, "a client that does not read is told nothing")
  }

  @Test("A request disarms the deadline, and the rest of a head has one of its own")
  func heads() {
    var life = Life()
    #expect(life.update(traffic(isWithinHead: true), waits) == .after(.seconds(10)))
    life.beginServing()
    #expect(life.update(traffic(hasStreams: true), waits) == .disarmed)
    #expect(life.timedOut(isWritable: true, waits) == .nothing)
    #expect(life.update(traffic(isWithinHead: true, hasStreams: true), waits) == .after(.seconds(10)))
  }

  @Test("An idle connection keeps its memory for a moment, then releases it, then ends without an error")
  func idle() {
    var life = serving()
    #expect(life.update(traffic(), waits) == .after(Life.pause))
    #expect(life.update(traffic(), waits) == nil)
    #expect(life.timedOut(isWritable: true, waits) == .shrink(thenAfter: .seconds(59)))
    #expect(life.update(traffic(), waits) == nil, "other events do not restart the second part")
    #expect(life.timedOut(isWritable: true, waits) == .terminate(.noError))
  }

  @Test("An idle time-out that is shorter than the moment ends the connection at once")
  func shortIdle() {
    let waits = ClientWaits(
      head: .seconds(10), bodyProgress: .seconds(30), idle: .milliseconds(500), writeProgress: .seconds(20),
      handshake: .seconds(5))
    var life = serving()
    #expect(life.update(traffic(), waits) == .after(.milliseconds(500)))
    #expect(life.timedOut(isWritable: true, waits) == .terminate(.noError))
  }

  @Test("A client that does not read is aborted, unless it reads again in time")
  func write() {
    var life = serving()
    #expect(life.update(traffic(isWritable: false, hasStreams: true), waits) == .after(.seconds(20)))
    life.becameWritable()
    #expect(life.timedOut(isWritable: true, waits) == .nothing)
    #expect(life.update(traffic(isWritable: false), waits) == .after(.seconds(20)))
    #expect(life.timedOut(isWritable: false, waits) == .abort)
  }

  @Test("A shutdown waits for the streams, then a second for the client's acknowledgement, and begins once")
  func shutdown() {
    var life = serving()
    let begins = [life.drain(), life.drain()]
    #expect(begins == [true, false])
    #expect(life.update(traffic(hasStreams: true), waits) == nil)
    #expect(life.update(traffic(), waits) == .after(Life.farewell))
    #expect(life.timedOut(isWritable: true, waits) == .goAway)
    life.beginServing()
    #expect(life.stage == .draining, "a request on its way does not end the shutdown")
  }

  @Test("Lingering is not left for anything, and its time-out aborts")
  func lingering() {
    var life = serving()
    let begins = [life.linger(), life.linger()]
    #expect(begins == [true, false])
    #expect(life.update(traffic(isWritable: false), waits) == nil)
    life.becameWritable()
    #expect(life.isLingering)
    #expect(life.timedOut(isWritable: true, waits) == .abort)
  }

  @Test("A closed connection has no deadline, and neither closes nor drains again")
  func closed() {
    var life = serving()
    let ends = [life.close(), life.close(), life.drain()]
    #expect(ends == [true, false, false] && life.isClosed)
    #expect(life.update(traffic(), waits) == nil)
  }
}
