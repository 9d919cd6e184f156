import Foundation
import NIOCore
import Synchronization
import Testing
import WaitingTesting
import WebFormats

@testable import DataPlane

// Cases: whole requests before FIN, requests that FIN cuts off, clients that leave for good by FIN or RST, every state
// in which FIN may find a connection.

@Suite("Clients that end their side of the connection")
struct HalfCloseTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  private static let last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  @Test(
    "Each whole request before FIN is answered in order, the last with Connection: close",
    arguments: [
      (last, ["0.0:"]), (get, ["0.0:"]), ("GET / HTTP/1.0\r\nHost: a\r\n\r\n", ["0.0:"]),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", ["0.0:hello"]),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", ["0.0:hello"]),
      (get + last, ["0.0:", "0.1:"]), (get + get + get, ["0.0:", "0.1:", "0.2:"]),
    ])
  func answered(_ requests: String, _ bodies: [String]) async throws {
    try await withGateway { rig async throws in
      let (answers, ended) = try await blocking {
        let client = try rig.connect()
        try client.send(requests)
        client.finish()
        return (try bodies.map { _ in try client.readResponse() }, try client.isEnded())
      }
      #expect(answers.map(\.text) == bodies && ended)
      // One to a client that did not announce its last request may be out before FIN is seen.
      if requests.contains("close") || requests.contains("HTTP/1.0") {
        #expect(answers.last?.value("connection") == "close")
      }
      #expect(answers.dropLast().allSatisfy { $0.value("connection") == nil })
      #expect(await eventually { rig.log.clients == 0 && rig.log.statuses == bodies.map { _ in 200 } })
      #expect(rig.log.failures.isEmpty)
    }
  }

  @Test(
    "A request that FIN cuts off is 400, after the responses to those before it, and never whole upstream",
    arguments: [
      ("GET / HTTP/1.1\r\nHos", 0), (get + "GET / HT", 1),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello", 0),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 0),
      (get + "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello", 1),
    ])
  func cutOff(_ requests: String, _ whole: Int) async throws {
    let received = Mutex(0)
    try await withGateway(
      script: { socket, number in
        while true {
          _ = try socket.readRequest()
          received.withLock { $0 += 1 }
          try socket.answer("whole")
        }
      },
      { rig async throws in
        let (answers, ended) = try await blocking {
          let client = try rig.connect()
          try client.send(requests)
          client.finish()
          return (try (0...whole).map { _ in try client.readResponse() }, try client.isEnded())
        }
        #expect(answers.map(\.status) == [Int](repeating: 200, count: whole) + [400] && ended)
        #expect(answers.last?.text.hasPrefix("the connection ended within the request") == true)
        #expect(await eventually { rig.log.clients == 0 && rig.log.statuses.count == whole + 1 })
        #expect(received.withLock { $0 } == whole)
        #expect(try await rig.isWell())
      })
  }

  @Test("A half-closed client that announced its last request gets its response; another is given up")
  func patience() async throws {
    let isOpen = Mutex(false)
    try await withGateway(
      script: { socket, _ in
        while true {
          let request = try socket.readRequest()
          if !request.head.hasPrefix("GET /well") { try waitUntil { isOpen.withLock { $0 } } }
          try socket.answer("late")
        }
      },
      { rig async throws in
        let announced = try rig.connect()
        try announced.send(Self.last)
        announced.finish()
        let other = try rig.connect()
        try other.send(Self.get)
        other.finish()
        // The first one has waited at least as long.
        #expect(await eventually { rig.log.statuses == [499] })
        #expect(rig.log.failures == [.clientLeft])
        isOpen.withLock { $0 = true }
        let answer = try await blocking { try announced.readResponse() }
        #expect(answer.status == 200 && answer.text == "late")
        #expect(await eventually { rig.log.statuses == [499, 200] && rig.log.clients == 0 })
      })
  }

  @Test("A half-closed client that resets its connection while it waits is 499 at once")
  func reset() async throws {
    try await withGateway(
      script: answeringFirst { socket in
        _ = try? socket.readToEnd()
      },
      { rig async throws in
        let client = try rig.connect()
        try client.send(Self.last)
        client.finish()
        #expect(await eventually { rig.log.upstreams == 1 })
        #expect(rig.log.statuses.isEmpty)
        client.reset()
        #expect(await eventually { rig.log.statuses == [499] && rig.log.upstreams == 0 && rig.log.clients == 0 })
        #expect(rig.log.failures == [.clientLeft])
        #expect(try await rig.isWell())
      })
  }

  @Test("A stream to a client that has closed its socket ends with the first writes")
  func closedStream() async throws {
    try await withGateway(
      script: answeringFirst { socket in
        try socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        while true {
          try socket.send("5\r\nevent\r\n")
          try RawSocket.pause()
        }
      },
      { rig async throws in
        try await blocking {
          let client = try rig.connect()
          try client.send(Self.last)
          _ = try client.read(through: "first")
          client.close()
        }
        #expect(await eventually { rig.log.clients == 0 && rig.log.upstreams == 0 })
        #expect(rig.log.statuses == [200] && rig.log.failures == [.clientLeft])
        #expect(try await rig.isWell())
      })
  }

  @Test("A half-closed client gets the whole of a large response")
  func largeResponse() async throws {
    let size = 3_000_000
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readRequest()
        try socket.answer(String(repeating: "x", count: size))
      },
      { rig async throws in
        let body = try await blocking {
          let client = try rig.connect(receiveBuffer: 4_096)
          try client.send(Self.get)
          client.finish()
          return try client.readResponse().body.count
        }
        #expect(body == size)
        #expect(await eventually { rig.log.clients == 0 })
      })
  }

  @Test("FIN ends connections in every state, and no socket stays open", arguments: [0, 1, 2, 3])
  func noneIsLeft(_ kind: Int) async throws {
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    let beginnings: [String] =
      switch kind {
      case 0: ["", "G", "GET / HTTP/1.1\r\n", Self.get, Self.last, Self.get + "GET"]
      case 1: ["", "P", "PRI * HT", preface, preface + "\0\0\0\u{4}\0\0\0\0\0", Self.get]
      case 2: ["", "PROXY TCP4", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "GET / HTTP/1.1\r\n"]
      default: [""]
      }
    try await withGateway(
      listener: {
        if kind == 1 { $0.main.protocols = [.http2, .http1] }
        if kind == 2 { $0.main.proxyProtocolPeers = [NetworkPrefix("127.0.0.0/8")].compactMap { $0 } }
        if kind == 3 { $0.limits.connections = 1 }
      },
      { rig async throws in
        let clients = try (0..<60).map { number in
          let client = try rig.connect()
          try client.send(beginnings[number % beginnings.count])
          client.finish()
          return client
        }
        try await blocking { for client in clients { _ = try client.readToEnd() } }
        #expect(await eventually { rig.log.clients == 0 && rig.log.statuses.count == rig.log.began })
        // Their sockets are closed, not only forgotten.
        #expect(await eventually { Self.openSockets(port: rig.port) == 0 })
      })
  }

  /// Sockets of a port of loopback that are connected, or whose peer alone has ended (`/proc/net/tcp`).
  private static func openSockets(port: UInt16) -> Int {
    let place = ":" + String(UInt32(port) + 0x10000, radix: 16, uppercase: true).dropFirst()
    // Read to its end, which Foundation does not do with a file that says that it is empty.
    let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
    defer { try? file?.close() }
    guard let lines = try? file?.readToEnd() else { return -1 }
    return String(decoding: lines, as: UTF8.self).split(separator: "\n").count { line in
      let words = line.split(separator: " ")
      return words.count > 3 && words[1].hasSuffix(place) && ["01", "08"].contains(words[3])
    }
  }

  @Test("An end soon after the last byte is a half-close; a later one, or a second one, is not")
  func moment() {
    let start = NIODeadline.now()
    let (soon, late) = (start + ClientInput.halfCloseWindow, start + ClientInput.halfCloseWindow + .nanoseconds(1))
    /// Whether ends at these moments are half-closes, of a client of which `lastRead` was read.
    func areHalfCloses(_ ends: [NIODeadline], lastRead: NIODeadline? = nil) -> [Bool] {
      var input = ClientInput.open(lastRead: .distantPast)
      if let lastRead { input.read(at: lastRead) }
      let answers = ends.map { input.end(at: $0, headRead: start) }
      #expect(input.hasEnded)
      return answers
    }
    #expect(areHalfCloses([soon, soon]) == [true, false])
    #expect(areHalfCloses([late]) == [false])
    // A body, or requests sent ahead, have come since.
    #expect(areHalfCloses([start + .seconds(10)], lastRead: start + .seconds(9)) == [true])
  }
}
