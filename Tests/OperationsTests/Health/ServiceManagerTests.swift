import Foundation
import Testing
import WebFormats

@testable import Operations

// Cases: a manager that reads; one that does not, for each kind of message, and reads later; none; the environment.

@Suite("Notifications to the service manager")
struct ServiceManagerTests {
  /// The socket of a service manager.
  private final class Receiver {
    let name: String
    private let descriptor: Int32

    init() throws {
      let name = "@cordon-tests-\(UUID().uuidString)"
      let address = try #require(UnixSocketAddress(name))
      let bound = address.withDatagramSocket { opened, address, length -> Int32 in
        #expect(bind(opened, address.assumingMemoryBound(to: sockaddr.self), length) == 0)
        return opened
      }
      descriptor = try #require(bound)
      self.name = name
    }

    deinit { close(descriptor) }

    /// The first lines of the messages that have come.
    func read() -> [String] {
      var messages: [String] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while case let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count >= 0 {
        messages.append(String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
      }
      return messages
    }
  }

  private func manager(_ environment: [String: String]) -> ServiceManager { ServiceManager { environment[$0] } }

  /// Sends pings until the queue of the socket, which nobody reads, is full.
  private func fill(_ manager: ServiceManager) throws {
    for _ in 0..<10_000 {
      manager.alive()
      if manager.sendAgain() { return }
    }
    Issue.record("the queue has no end")
  }

  @Test("A manager that reads gets each message in its order, and nothing is reported")
  func reading() throws {
    let receiver = try Receiver()
    let manager = manager(["NOTIFY_SOCKET": receiver.name])
    manager.readyWithoutStore()
    manager.ready()
    manager.alive()
    manager.reloading()
    manager.ready()
    manager.stopping()
    #expect(receiver.read() == ["READY=1", "READY=1", "WATCHDOG=1", "RELOADING=1", "READY=1", "STOPPING=1"])
    #expect(!manager.sendAgain())
    #expect(receiver.read() == [])
  }

  @Test("A manager that does not read blocks nothing, and gets the state when it reads again", .timeLimit(.minutes(5)))
  func stalled() throws {
    let receiver = try Receiver()
    let manager = manager(["NOTIFY_SOCKET": receiver.name])
    try fill(manager)
    manager.reloading()
    manager.ready()
    manager.alive()
    #expect(!manager.sendAgain(), "a failure is reported once")
    #expect(receiver.read().allSatisfy { $0 == "WATCHDOG=1" })
    #expect(!manager.sendAgain())
    #expect(receiver.read() == ["RELOADING=1", "READY=1"])
    #expect(!manager.sendAgain())
    #expect(receiver.read() == [], "nothing is sent twice")
  }

  @Test("The end of the process replaces what was not taken before", .timeLimit(.minutes(5)))
  func stopping() throws {
    let receiver = try Receiver()
    let manager = manager(["NOTIFY_SOCKET": receiver.name])
    try fill(manager)
    manager.ready()
    manager.stopping()
    _ = receiver.read()
    manager.alive()
    #expect(receiver.read() == ["STOPPING=1", "WATCHDOG=1"], "a ping sends what waits, too")
  }

  @Test("Of many messages that are not taken, the newest are kept", .timeLimit(.minutes(5)))
  func bounded() throws {
    let receiver = try Receiver()
    let manager = manager(["NOTIFY_SOCKET": receiver.name])
    try fill(manager)
    for _ in 0..<1_000 {
      manager.reloading()
      manager.ready()
    }
    _ = receiver.read()
    _ = manager.sendAgain()
    let rest = receiver.read()
    #expect(rest.count == 8 && rest.last == "READY=1")
  }

  @Test("Without a manager, and with one that has gone, nothing is kept or reported")
  func missing() {
    for environment in [[:], ["NOTIFY_SOCKET": "@cordon-tests-\(UUID().uuidString)"], ["NOTIFY_SOCKET": ""]] {
      let manager = manager(environment)
      manager.ready()
      manager.alive()
      #expect(!manager.sendAgain())
    }
  }

  @Test("The watchdog is pinged at half of its time, and only if it is meant for this process")
  func watchdog() {
    #expect(manager(["WATCHDOG_USEC": "30000000"]).watchdogInterval == .seconds(15))
    #expect(manager(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(getpid())"]).watchdogInterval == .seconds(15))
    #expect(manager(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]).watchdogInterval == nil)
    for period in ["0", "", "x"] { #expect(manager(["WATCHDOG_USEC": period]).watchdogInterval == nil, "\(period)") }
    #expect(manager([:]).watchdogInterval == nil)
  }
}
