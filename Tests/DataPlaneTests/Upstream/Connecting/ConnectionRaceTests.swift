import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

// Cases (RFC 8305): the order of the addresses, the next attempt at a failure and after the delay, the first success,
// all failures, no address, cancellation of the attempts that have lost and of the race; no sockets, and the loop's
// clock is the test's.

@Suite("Connections to a host with several addresses")
struct ConnectionRaceTests {
  private struct Trouble: Error, Equatable {
    let number: Int
  }

  /// A race whose attempts end when the test says so.
  fileprivate final class Rig {
    let loop = EmbeddedEventLoop()
    private(set) var begun: [Int] = []
    /// Attempts that were cancelled while they were under way.
    private(set) var cancelled: [Int] = []
    private let obeysCancel: Bool
    private var race: PendingConnection?
    private var promises: [Int: EventLoopPromise<any Channel>] = [:]
    private(set) var result: Result<any Channel, any Error>?

    /// - Parameter obeysCancel: whether an attempt ends when it is cancelled.
    init(_ addresses: [String], obeysCancel: Bool = true) throws {
      self.obeysCancel = obeysCancel
      let addresses = try addresses.map { try SocketAddress(ipAddress: $0, port: 80) }
      let attempts: [ConnectionRace.Attempt] = addresses.indices.map { number in
        { [unowned self] in begin(number) }
      }
      let race = ConnectionRace.run(attempts, inOrderOf: addresses, host: "app.test", on: loop)
      self.race = race
      race.channel.assumeIsolated().whenComplete { [unowned self] in result = $0 }
    }

    private func begin(_ number: Int) -> PendingConnection {
      begun.append(number)
      let promise = loop.makePromise(of: (any Channel).self)
      promises[number] = promise
      return PendingConnection(channel: promise.futureResult) { [unowned self] in
        cancelled.append(number)
        if obeysCancel { promise.fail(CancellationError()) }
      }
    }

    func cancel() { race?.cancel() }

    func fail(_ number: Int, with error: (any Error)? = nil) {
      promises[number]?.fail(error ?? Trouble(number: number))
    }

    func succeed(_ number: Int) -> EmbeddedChannel {
      let channel = EmbeddedChannel(loop: loop)
      promises[number]?.succeed(channel)
      return channel
    }

    func wait(_ time: TimeAmount) { loop.advanceTime(by: time) }

    var winner: ObjectIdentifier? { (try? result?.get()).map { ObjectIdentifier($0) } }
    var failure: (any Error)? { if case .failure(let error)? = result { error } else { nil } }
  }

  @Test("IPv6 and IPv4 are tried in turn, IPv6 first, each family in its own order")
  func order() throws {
    func order(_ addresses: String...) throws -> [Int] {
      ConnectionRace.order(try addresses.map { try SocketAddress(ipAddress: $0, port: 80) })
    }
    #expect(try order("10.0.0.1", "10.0.0.2", "::1", "10.0.0.3", "::2") == [2, 0, 4, 1, 3])
    #expect(try order("10.0.0.2", "10.0.0.1") == [0, 1])
    #expect(try order("::2", "::1") == [0, 1])
    #expect(try order().isEmpty)
  }

  @Test("The first address alone is tried at first, and its connection is the result")
  func first() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2"])
    #expect(rig.begun == [0])
    let channel = rig.succeed(0)
    #expect(rig.winner == ObjectIdentifier(channel))
    rig.wait(.seconds(10))
    #expect(rig.begun == [0])
  }

  @Test("The next address is tried as soon as one has failed")
  func nextAtFailure() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2", "::1"])
    rig.fail(2)
    #expect(rig.begun == [2, 0] && rig.result == nil)
    rig.fail(0)
    #expect(rig.begun == [2, 0, 1])
    let channel = rig.succeed(1)
    #expect(rig.winner == ObjectIdentifier(channel))
  }

  @Test("The next address is tried beside one that takes longer than a quarter of a second")
  func nextAfterDelay() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
    rig.wait(.milliseconds(249))
    #expect(rig.begun == [0])
    rig.wait(.milliseconds(1))
    #expect(rig.begun == [0, 1])
    rig.wait(.milliseconds(250))
    #expect(rig.begun == [0, 1, 2])
    rig.wait(.seconds(5))
    #expect(rig.begun == [0, 1, 2] && rig.result == nil)
    // The delay begins again with each attempt.
    let other = try Rig(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
    other.wait(.milliseconds(200))
    other.fail(0)
    other.wait(.milliseconds(249))
    #expect(other.begun == [0, 1])
    other.wait(.milliseconds(1))
    #expect(other.begun == [0, 1, 2])
  }

  @Test("The first connection wins, and one that comes although it was cancelled is closed")
  func loser() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2"], obeysCancel: false)
    rig.wait(.milliseconds(250))
    let winner = rig.succeed(1)
    let loser = rig.succeed(0)
    rig.loop.run()
    #expect(rig.winner == ObjectIdentifier(winner))
    let isClosed = rig.isClosed(loser)
    #expect(isClosed)
  }

  @Test("The attempts that have lost are cancelled at once, and those that have failed are not")
  func losersCancelled() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"])
    rig.wait(.milliseconds(250))
    rig.fail(0)
    rig.wait(.milliseconds(250))
    #expect(rig.begun == [0, 1, 2, 3] && rig.cancelled == [])
    let winner = rig.succeed(2)
    #expect(rig.winner == ObjectIdentifier(winner))
    #expect(rig.cancelled.sorted() == [1, 3])
    rig.wait(.seconds(10))
    #expect(rig.begun == [0, 1, 2, 3])
    let isClosed = rig.isClosed(winner)
    #expect(!isClosed)
  }

  @Test("A cancelled race cancels what is under way, begins nothing more, and fails")
  func raceCancelled() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
    rig.wait(.milliseconds(250))
    rig.cancel()
    #expect(rig.failure is CancellationError)
    #expect(rig.cancelled.sorted() == [0, 1])
    rig.wait(.seconds(10))
    #expect(rig.begun == [0, 1])
  }

  @Test("A race that is over is not cancelled")
  func lateCancel() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2"])
    let winner = rig.succeed(0)
    rig.cancel()
    let isClosed = rig.isClosed(winner)
    #expect(rig.winner == ObjectIdentifier(winner) && rig.cancelled == [] && !isClosed)
  }

  @Test("A failure after the first connection changes nothing")
  func lateFailure() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2", "10.0.0.3"], obeysCancel: false)
    rig.wait(.milliseconds(250))
    let winner = rig.succeed(1)
    rig.fail(0)
    #expect(rig.winner == ObjectIdentifier(winner) && rig.begun == [0, 1])
  }

  @Test("When every attempt has failed, the first error is told")
  func allFail() throws {
    let rig = try Rig(["10.0.0.1", "10.0.0.2"])
    rig.wait(.milliseconds(250))
    rig.fail(1)
    #expect(rig.result == nil)
    rig.fail(0)
    #expect(rig.failure as? Trouble == Trouble(number: 1))
  }

  @Test("The error of a family that is off on this system is not told where another attempt has failed as well")
  func familyOff() throws {
    let off = IOError(errnoCode: EADDRNOTAVAIL, reason: "connect")
    let rig = try Rig(["::1", "127.0.0.1"])
    rig.fail(0, with: off)
    rig.fail(1)
    #expect(rig.failure as? Trouble == Trouble(number: 1))
    let alone = try Rig(["::1", "::2"])
    alone.fail(0, with: off)
    alone.fail(1, with: off)
    #expect((alone.failure as? IOError)?.errnoCode == EADDRNOTAVAIL)
  }

  @Test("A host without an address is told as such")
  func noAddress() throws {
    let rig = try Rig([])
    let failure = try #require(rig.failure as? UnresolvedHostError)
    #expect(failure.description == "no address for app.test")
  }
}

extension ConnectionRaceTests.Rig {
  fileprivate func isClosed(_ channel: EmbeddedChannel) -> Bool {
    var isClosed = false
    channel.closeFuture.assumeIsolated().whenComplete { _ in isClosed = true }
    loop.run()
    return isClosed
  }
}
