import HTTPTypes
import NIOCore
import SocketTransport
import Synchronization
import Testing
import WaitingTesting

@testable import DataPlane

// Cases: answers, waiting, the control plane's bodies, drain.

@Suite("Decisions of the gate")
struct DecisionTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test("A response of the gate has its length, and pipelined ones keep their order")
  func answers() async throws {
    try await withGateway(
      gate: { path, _ in
        var response = ControlResponse(.ok, body: Array(path.utf8))
        response.head.headerFields[.cacheControl] = "no-store"
        return .answer(response, label: .init(number: 2))
      },
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          try client.send((0..<1_000).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
          return try (0..<1_000).map { _ in try client.readResponse() }
        }
        #expect(answers.map(\.text) == (0..<1_000).map { "/\($0)" })
        #expect(answers[0].value("cache-control") == "no-store" && answers[0].value("x-request-id")?.utf8.count == 32)
        #expect(rig.upstream.accepted == 0)
        let head = try await rig.exchange("HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\nGET", toHead: true)
        #expect(head.value("content-length") == "4")
        let withBody = try await rig.exchange("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nab")
        #expect(withBody.text == "/p" && withBody.value("connection") == "close")
      })
  }

  @Test("A gate that suspends a request decides again afterwards, and bytes that came meanwhile wait")
  func waiting() async throws {
    let ready = Mutex(false)
    let asked = Mutex(0)
    try await withGateway(
      gate: { _, _ in
        if ready.withLock({ $0 }) { return .forward(ForwardingDirective(label: .init(number: 0))) }
        return .suspend {
          asked.withLock { $0 += 1 }
          _ = await eventually { ready.withLock { $0 } }
        }
      },
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
          try waitUntil { asked.withLock { $0 } > 0 }
          try client.send("def" + Self.get)
          ready.withLock { $0 = true }
          return [try client.readResponse().text, try client.readResponse().text]
        }
        #expect(answers == ["0.0:abcdef", "0.1:"] && asked.withLock { $0 } == 1)
        #expect(await eventually { rig.log.began == 2 && rig.log.statuses == [200, 200] })
      })
  }

  @Test("A gate that never comes to a decision is not asked for ever")
  func undecided() async throws {
    let asked = Mutex(0)
    try await withGateway(
      gate: { path, _ in
        if path == "/well" { return .forward(ForwardingDirective(label: .init(number: 0))) }
        return .suspend { asked.withLock { $0 += 1 } }
      },
      { rig async throws in
        #expect(try await rig.exchange(Self.get).status == 503)
        #expect(asked.withLock { $0 } == Int(ExchangeInfo.mostSuspensions))
        #expect(try await rig.exchange("GET /well HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
      })
  }

  @Test("A client that leaves while the gate is suspended is forgotten")
  func leavingWhileWaiting() async throws {
    let asked = Mutex(false)
    let go = Mutex(false)
    let over = Mutex(false)
    try await withGateway(
      gate: { path, _ in
        if path == "/well" { return .forward(ForwardingDirective(label: .init(number: 0))) }
        return .suspend {
          asked.withLock { $0 = true }
          _ = await eventually { go.withLock { $0 } }
          over.withLock { $0 = true }
        }
      },
      { rig async throws in
        try await blocking {
          let client = try rig.connect()
          try client.send(Self.get)
          try waitUntil { asked.withLock { $0 } }
          client.close()
        }
        #expect(await eventually { rig.log.clients == 0 })
        go.withLock { $0 = true }
        #expect(await eventually { over.withLock { $0 } })
        #expect(try await rig.isWell())
      })
  }

  private static func control(limit: Int) -> ScriptedGate.Decision {
    { path, _ in
      if path == "/well" { return .forward(ForwardingDirective(label: .init(number: 0))) }
      return .handle(
        EndpointAction(bodyLimit: limit, label: .init(number: 3)) { request in
          let head = request.head
          let text = "\(head.method) \(head.path ?? "") \(head.authority ?? "") \(head.scheme ?? "") "
          return ControlResponse(.created, fields: [.contentType: "x/y"], body: Array(text.utf8) + request.body)
        })
    }
  }

  @Test("Endpoints get whole requests, and their responses are sent in order")
  func performing() async throws {
    try await withGateway(
      gate: Self.control(limit: 100),
      { rig async throws in
        let answers = try await blocking {
          let client = try rig.connect()
          try client.send("POST /a?b HTTP/1.1\r\nHost: h:1\r\nContent-Length: 3\r\n\r\nabc" + Self.get)
          try client.send(
            "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\nX: y\r\n\r\n")
          return try (0..<3).map { _ in try client.readResponse() }
        }
        #expect(answers.map(\.text) == ["POST /a?b h:1 https abc", "GET / a https ", "POST /c h https def"])
        #expect(answers.allSatisfy { $0.status == 201 && $0.value("content-type") == "x/y" })
        let waited = try await blocking {
          let client = try rig.connect()
          try client.send("POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
          let interim = try client.readResponse().status
          try client.send("ok")
          return (interim, try client.readResponse().text)
        }
        #expect(waited.0 == 100 && waited.1 == "POST /e a https ok")
      })
  }

  @Test(
    "A body too large for an endpoint is 413 before it is read, a malformed one 400",
    arguments: [
      ("Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n1\r\nf\r\n", 413),
      ("Transfer-Encoding: chunked\r\n\r\nx\r\n", 400),
      ("Content-Length: 100000000\r\nExpect: 100-continue\r\n\r\n", 413),
    ])
  func performingLimits(_ rest: String, _ status: Int) async throws {
    try await withGateway(
      gate: Self.control(limit: 5),
      { rig async throws in
        let (answer, ended) = try await blocking {
          let client = try rig.connect()
          try client.send("POST / HTTP/1.1\r\nHost: a\r\n" + rest)
          let answer = try client.readResponse()
          return (answer, try client.isEnded())
        }
        #expect(answer.status == status && ended)
        #expect(try await rig.isWell())
      })
  }

  @Test("A drain closes idle connections and finishes the requests in flight")
  func drain() async throws {
    let go = Mutex(false)
    try await withGateway(
      script: { socket, _ in
        while true {
          let head = try socket.readHead()
          if head.contains("/slow") { try waitUntil { go.withLock { $0 } } }
          try socket.answer("done")
        }
      },
      { rig async throws in
        let clients = try await blocking {
          let clients = try (0..<2).map { _ in try rig.connect() }
          try clients[0].send(Self.get)
          _ = try clients[0].readResponse()
          try clients[1].send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
          try waitUntil { rig.log.began == 2 }
          return clients
        }
        async let drained = rig.listener.drain(within: patience)
        let idleEnded = try await blocking { try clients[0].isEnded() }
        #expect(idleEnded)
        go.withLock { $0 = true }
        let slow = try await blocking { (try clients[1].readResponse(), try clients[1].isEnded()) }
        #expect(slow.0.text == "done" && slow.0.value("connection") == "close" && slow.1)
        #expect(await drained == 0)
        #expect(rig.log.clients == 0 && rig.log.upstreams == 0)
        #expect(throws: RawSocketError.self) { try rig.connect() }
      })
  }

  @Test("A response that began before a shutdown was announced is followed by one that says close")
  func announcedWithinResponse() async throws {
    let go = Mutex(false)
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
        try waitUntil { go.withLock { $0 } }
        try socket.send("lf")
        _ = try socket.readHead()
        try socket.answer("whole")
      },
      { rig async throws in
        let client = try await blocking {
          let client = try rig.connect()
          try client.send(Self.get)
          #expect(try !client.readHead().lowercased().contains("connection: close"))
          #expect(try client.read(count: 2) == Array("ha".utf8))
          return client
        }
        await rig.listener.beginGracefulShutdown()
        go.withLock { $0 = true }
        let next = try await blocking {
          #expect(try client.read(count: 2) == Array("lf".utf8))
          try client.send(Self.get)
          return (try client.readResponse(), try client.isEnded())
        }
        #expect(next.0.text == "whole" && next.0.value("connection") == "close" && next.1)
      })
  }

  @Test("A drain whose time is over cuts off the requests in flight")
  func drainLimit() async throws {
    try await withGateway(
      script: { socket, _ in _ = try socket.readToEnd() },
      { rig async throws in
        let client = try await blocking {
          let client = try rig.connect()
          try client.send(Self.get)
          try waitUntil { rig.log.upstreams == 1 }
          return client
        }
        #expect(await rig.listener.drain(within: .milliseconds(100)) == 1)
        #expect(try await blocking { try client.isEnded() })
        #expect(rig.log.clients == 0 && rig.log.upstreams == 0)
      })
  }
}
