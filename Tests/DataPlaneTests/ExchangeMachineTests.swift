import HTTPTypes
import HTTPWire
import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

// Cases: answers and endpoints; bodies forwarded, kept, too large, too slow, held; upgrades; responses; failures and
// retries; deadlines; clients that leave. Each table is run for HTTP/1.1 and for HTTP/2.

/// An event of an exchange.
enum ExchangeEvent: Sendable {
  /// The head is whole; `ended`: so is the request.
  case head(RequestHead.Method = .get, ended: Bool)
  case answer
  case endpoint(limit: Int = 10, framing: RequestFraming = .none)
  case forward(RequestFraming = .none, limit: Int? = nil)
  case upgrade(RequestFraming = .none, surplus: Bool = false)
  /// A connection is asked for.
  case ask
  /// Asks whether it is ready to be sent.
  case look
  case connected
  case sent
  case content(Int, limit: Int? = nil)
  case end
  case pause, resume
  case slow
  case head101(acceptsKey: Bool = true)
  case responded(Int)
  case ownResponse(Int)
  case failed(UpstreamFailure)
  case timeout
  case left(isSent: Bool = false)
}

/// An exchange without a transport, and a clock of the test's own.
struct ExchangeBench {
  var exchange = Exchange()
  let version: HTTPVersion
  let loop = LoopResources(eventLoop: EmbeddedEventLoop())
  let balancer: UpstreamBalancer
  let connection: UpstreamConnection
  var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  init(_ version: HTTPVersion, speaks: HTTPProtocol = .http1, requestBuffer: Int? = nil) throws {
    self.version = version
    var settings = UpstreamSettings(addresses: (1...3).map { .tcp(host: "127.0.0.\($0)", port: 9, tls: false) })
    settings.speaks = speaks
    settings.requestBuffer = requestBuffer
    let target = try UpstreamGroup(settings)
    let loop = loop
    let pools = target.endpoints.enumerated().map { number, endpoint in
      UpstreamPool(loop: loop, settings: target.settings, endpoint: endpoint, number: number) { _ in }
    }
    balancer = UpstreamBalancer(pools, eventLoop: loop.eventLoop, seed: 1)
    connection = UpstreamConnection(
      loop: loop, pool: pools[0], timeouts: UpstreamWaits(settings.timeouts), awaitsHandshake: false,
      isAtSocket: false)
  }

  /// Applies an event.
  /// - Returns: the step that it leads to, in words; empty if there is none.
  mutating func apply(_ event: ExchangeEvent) -> String {
    switch event {
    case .head(let method, let ended):
      exchange.begin(loop.requestIDs.next(), version, isWhole: ended, at: now)
      exchange.info.method = method
      return ""
    case .answer:
      exchange.answer(routeClass: 2)
      return ""
    case .endpoint(let limit, let framing):
      let action = EndpointAction(bodyLimit: limit, routeClass: 3) { _ in ControlResponse(.ok) }
      if let refusal = exchange.admit(action, framing: framing) { return Self.text(refusal) }
      let request = ControlRequest(
        head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/"), client: ClientPeer(address: "::1"),
        requestID: "")
      let call = EndpointCall(action: action, request: request, pace: BodyPace(rate: 100, began: now))
      return exchange.collect(call) ? "whole" : ""
    case .forward(let framing, let limit): return forward(framing, limit: limit)
    case .upgrade(let framing, let surplus): return forward(framing, upgrades: true, surplus: surplus)
    case .ask:
      exchange.upstream.leg = .waiting(nil)
      return exchange.isReadyToSend ? "ready" : ""
    case .look: return exchange.isReadyToSend ? "ready" : "not ready"
    case .connected: return exchange.connected(connection, at: now) ? "use" : "release"
    case .sent:
      _ = exchange.upstream.takeFirstContent(
        isComplete: exchange.request.isWhole,
        rules: ForwardingRules(reservedNames: [], sessionCookieName: "c", scheme: "https"), loop)
      return ""
    case .content(let count, let limit):
      let step = exchange.received(count, limit: limit)
      switch step {
      case .keep, .buffer: exchange.upstream.keep(ByteBuffer(repeating: 0x61, count: count))
      case .forward, .collect, .tunnel, .discard, .refuse: break
      }
      return Self.text(step)
    case .end: return Self.text(exchange.receivedEnd(trailers: []))
    case .pause:
      exchange.holdBody(true, at: now)
      return ""
    case .resume:
      exchange.holdBody(false, at: now)
      return ""
    case .slow:
      now = now + .seconds(100)
      return exchange.isBodyTooSlow(more: 0, at: now, grace: .seconds(10)) ? "too slow" : ""
    case .head101(let acceptsKey): return respond(101, acceptsKey)
    case .responded(let status): return respond(status, true)
    case .ownResponse(let status): return exchange.respond(status) ? "send" : "too late"
    case .failed(let failure):
      switch exchange.upstreamFailed(failure) {
      case .retry(let avoided): return "retry \(avoided)"
      case .refuse(let refusal): return Self.text(refusal)
      case .abort: return "abort"
      case .nothing: return ""
      }
    case .timeout:
      switch exchange.timedOut() {
      case .refuse(let refusal): return Self.text(refusal)
      case .closeTunnel: return "close tunnel"
      case .abort: return "abort"
      }
    case .left(let isSent):
      exchange.upstream.leg = .none
      exchange.clientLeft(isSent: isSent)
      let record = exchange.record(of: ClientPeer(address: "::1"), at: now)
      return record.failure.map { "\(record.status) \($0)" } ?? "\(record.status)"
    }
  }

  private mutating func forward(
    _ framing: RequestFraming, limit: Int? = nil, upgrades: Bool = false, surplus: Bool = false
  ) -> String {
    var directive = ForwardingDirective(routeClass: 1, allowsUpgrade: true)
    let refusal = exchange.forward(
      &directive, to: balancer, framing: framing, wantsUpgrade: upgrades,
      authenticatesConnection: false, hasSurplus: surplus,
      limits: BodyLimits(bytes: limit, rate: 100, grace: .seconds(10)), at: now)
    exchange.upstream.head = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    return refusal.map(Self.text) ?? ""
  }

  private mutating func respond(_ status: Int, _ acceptsKey: Bool) -> String {
    switch exchange.receivedResponse(status, isWebSocket: true, acceptsKey: acceptsKey, at: now) {
    case .respond: "respond"
    case .switchProtocols: "switch"
    case .refuse(let refusal): Self.text(refusal)
    }
  }

  static func text(_ refusal: Refusal) -> String { "refuse \(refusal.status)" }

  private static func text(_ step: Exchange.ContentStep) -> String {
    switch step {
    case .forward: "forward"
    case .keep: "keep"
    case .buffer: "buffer"
    case .collect: "collect"
    case .tunnel: "tunnel"
    case .discard: "discard"
    case .refuse(let refusal): text(refusal)
    }
  }

  private static func text(_ step: Exchange.EndStep) -> String {
    switch step {
    case .forward(let connection): connection == nil ? "wait" : "end body"
    case .send: "send"
    case .handle: "handle"
    case .endTunnel: "end input"
    case .withdraw: "withdraw"
    case .nothing: ""
    }
  }
}

/// A course of events, and the steps that they lead to.
struct ExchangeCourse: Sendable, CustomTestStringConvertible {
  let name: String
  /// The step is that of both transports, unless there is one of HTTP/2's own.
  let events: [(event: ExchangeEvent, step: String, overHTTP2: String?)]
  let versions: [HTTPVersion]

  init(
    _ name: String, _ events: [(ExchangeEvent, String)], over versions: [HTTPVersion] = [.http11, .http2],
    http2 differences: [Int: String] = [:]
  ) {
    self.name = name
    self.events = events.enumerated().map { ($1.0, $1.1, differences[$0]) }
    self.versions = versions
  }

  var testDescription: String { name }
}

@Suite("The state machine of an exchange")
struct ExchangeMachineTests {
  private static let courses: [ExchangeCourse] = [
    ExchangeCourse(
      "an answer of the gate to a request that is whole",
      [(.head(ended: true), ""), (.answer, ""), (.ownResponse(204), "send"), (.left(isSent: true), "204")]),
    ExchangeCourse(
      "an answer before the body is read: the rest is discarded",
      [
        (.head(.post, ended: false), ""), (.answer, ""), (.ownResponse(401), "send"), (.content(5), "discard"),
        (.end, ""), (.ownResponse(500), "too late"), (.left(isSent: true), "401"),
      ]),
    ExchangeCourse(
      "an endpoint gets the whole body, and its late response is too late",
      [
        (.head(.post, ended: false), ""), (.endpoint(), ""), (.content(6), "collect"), (.content(4), "collect"),
        (.end, "handle"), (.ownResponse(200), "send"), (.ownResponse(200), "too late"),
      ]),
    ExchangeCourse(
      "a body larger than an endpoint's limit is refused as it comes",
      [
        (.head(.post, ended: false), ""), (.endpoint(framing: .chunked), ""), (.content(6), "collect"),
        (.content(5), "refuse 413"),
      ]),
    ExchangeCourse(
      "a body that announces more than an endpoint's limit is refused before it is read",
      [(.head(.post, ended: false), ""), (.endpoint(framing: .length(11)), "refuse 413")]),
    ExchangeCourse(
      "an endpoint's body that stays away",
      [
        (.head(.post, ended: false), ""), (.endpoint(framing: .length(5)), ""), (.slow, "too slow"),
        (.timeout, "refuse 408"),
      ]),
    ExchangeCourse(
      "a request without a body, its response and its end",
      [
        (.head(ended: true), ""), (.forward(), ""), (.ask, ""), (.connected, "use"), (.responded(200), "respond"),
        (.left(isSent: true), "200"),
      ]),
    ExchangeCourse(
      "content is kept until there is a connection, then forwarded, and its end with it",
      [
        (.head(.post, ended: false), ""), (.content(3), "keep"), (.forward(.length(9)), ""), (.content(3), "keep"),
        (.ask, ""), (.connected, "use"), (.sent, ""), (.content(3), "forward"), (.end, "end body"),
      ]),
    ExchangeCourse(
      "content that no head announces is not forwarded: an extended CONNECT that is not taken for an upgrade",
      [(.head(.post, ended: false), ""), (.forward(), "refuse 400")]),
    ExchangeCourse(
      "a body that ends before there is a connection",
      [(.head(.post, ended: false), ""), (.forward(.chunked), ""), (.content(3), "keep"), (.end, "wait")]),
    ExchangeCourse(
      "an announced length beyond the limit, and a chunked body that grows beyond it",
      [
        (.head(.post, ended: false), ""), (.forward(.length(11), limit: 10), "refuse 413"),
        (.head(.post, ended: false), ""), (.forward(.chunked, limit: 10), ""), (.content(10, limit: 10), "keep"),
        (.content(1, limit: 10), "refuse 413"),
      ]),
    ExchangeCourse(
      "what came while the gate was deciding counts against the limit",
      [
        (.head(.post, ended: false), ""), (.content(11), "keep"), (.forward(.chunked, limit: 10), "refuse 413"),
      ]),
    ExchangeCourse(
      "a body that stays away is 408; one that the upstream does not take is 504",
      [
        (.head(.post, ended: false), ""), (.forward(.length(9)), ""), (.timeout, "refuse 408"), (.pause, ""),
        (.timeout, "refuse 504"), (.slow, ""), (.resume, ""), (.timeout, "refuse 408"), (.slow, "too slow"),
      ]),
    // Streams in both directions are made of pauses; an HTTP/1.1 connection ends after such a response.
    ExchangeCourse(
      "a body after the beginning of the response",
      [
        (.head(.post, ended: false), ""), (.forward(.chunked), ""), (.ask, ""), (.connected, "use"),
        (.responded(200), "respond"), (.slow, "too slow"), (.timeout, "abort"), (.content(3), "forward"),
      ], http2: [5: ""]),
    ExchangeCourse(
      "a client that leaves before there is a response is 499",
      [(.head(ended: true), ""), (.forward(), ""), (.ask, ""), (.left(), "499 clientLeft")]),
    ExchangeCourse(
      "a client that leaves within the response keeps its status",
      [
        (.head(ended: true), ""), (.forward(), ""), (.ask, ""), (.connected, "use"), (.responded(206), "respond"),
        (.left(), "206 clientLeft"),
      ]),
    ExchangeCourse(
      "a connection that comes when nobody waits for it goes back",
      [
        (.head(ended: true), ""), (.connected, "release"), (.forward(), ""), (.ask, ""), (.ownResponse(503), "send"),
        (.connected, "release"),
      ]),
    ExchangeCourse(
      "an idempotent request is sent again once when a kept connection has ended",
      [
        (.head(ended: true), ""), (.forward(), ""), (.ask, ""), (.connected, "use"), (.sent, ""),
        (.failed(.closedBeforeResponse(reused: true)), "retry 0"), (.ask, ""), (.connected, "use"),
        (.failed(.closedBeforeResponse(reused: true)), "refuse 502"), (.ownResponse(502), "send"),
        (.left(isSent: true), "502 upstreamClosed"),
      ]),
    ExchangeCourse(
      "a POST is not sent again when its connection has ended",
      [
        (.head(.post, ended: true), ""), (.forward(), ""), (.ask, ""), (.connected, "use"), (.sent, ""),
        (.failed(.closedBeforeResponse(reused: true)), "refuse 502"),
      ]),
    ExchangeCourse(
      "a POST with a body is not sent again when its connection has ended",
      [
        (.head(.post, ended: false), ""), (.forward(.length(3)), ""), (.content(3), "keep"), (.end, "wait"), (.ask, ""),
        (.connected, "use"), (.sent, ""), (.failed(.closedBeforeResponse(reused: true)), "refuse 502"),
      ]),
    ExchangeCourse(
      "a GET is not sent again when a new connection has ended",
      [
        (.head(ended: true), ""), (.forward(), ""), (.ask, ""), (.connected, "use"), (.sent, ""),
        (.failed(.closedBeforeResponse(reused: false)), "refuse 502"), (.ownResponse(502), "send"),
        (.left(isSent: true), "502 upstreamClosed"),
      ]),
    ExchangeCourse(
      "any request goes to another address as long as nothing was sent",
      [
        (.head(.post, ended: false), ""), (.forward(.length(3)), ""), (.ask, ""),
        (.failed(.connect("refused")), "retry 1"),
      ]),
    ExchangeCourse(
      "a failure within the response breaks it off",
      [
        (.head(ended: true), ""), (.forward(), ""), (.ask, ""), (.connected, "use"), (.responded(200), "respond"),
        (.failed(.closedMidway), "abort"), (.left(), "200 upstreamClosed"),
      ]),
    ExchangeCourse(
      "a failure that nobody waits for is nothing",
      [(.failed(.connectTimeout), ""), (.head(ended: true), ""), (.failed(.connectionLimit), "")]),
    ExchangeCourse(
      "an upgrade becomes a tunnel; a client that leaves one has done nothing wrong",
      [
        (.head(ended: true), ""), (.upgrade(), ""), (.ask, ""), (.connected, "use"), (.head101(), "switch"),
        (.content(5), "tunnel"), (.timeout, "abort"), (.end, "end input"), (.timeout, "close tunnel"),
        (.left(), "101"),
      ], over: [.http11]),
    ExchangeCourse(
      "an upgrade is sent again once when a kept connection has ended",
      [
        (.head(ended: true), ""), (.upgrade(), ""), (.ask, ""), (.connected, "use"), (.sent, ""),
        (.failed(.closedBeforeResponse(reused: true)), "retry 0"), (.ask, ""), (.connected, "use"),
        (.head101(), "switch"), (.left(), "101"),
      ], over: [.http11]),
    ExchangeCourse(
      "an extended CONNECT is not sent again: bytes may have followed it",
      [
        (.head(.other, ended: false), ""), (.upgrade(), ""), (.ask, ""), (.connected, "use"), (.sent, ""),
        (.failed(.closedBeforeResponse(reused: true)), "refuse 502"),
      ], over: [.http2]),
    ExchangeCourse(
      "an extended CONNECT becomes a tunnel; what its client sends ahead waits",
      [
        (.head(.other, ended: false), ""), (.content(2), "keep"), (.upgrade(), ""), (.content(2), "keep"), (.ask, ""),
        (.connected, "use"), (.head101(), "switch"), (.content(5), "tunnel"), (.end, "end input"), (.left(), "101"),
      ], over: [.http2]),
    ExchangeCourse(
      "an extended CONNECT is not answered by an ordinary response, nor by one that ignores its key",
      [
        (.head(.other, ended: false), ""), (.upgrade(), ""), (.ask, ""), (.connected, "use"),
        (.responded(200), "refuse 502"), (.head101(acceptsKey: false), "refuse 502"), (.responded(403), "respond"),
      ], over: [.http2]),
    ExchangeCourse(
      "an upgrade that is refused is an ordinary response",
      [
        (.head(ended: true), ""), (.upgrade(), ""), (.ask, ""), (.connected, "use"), (.responded(200), "respond"),
        (.left(isSent: true), "200"),
      ], over: [.http11]),
    ExchangeCourse(
      "an upgrade with a body is refused", [(.head(ended: false), ""), (.upgrade(.length(3)), "refuse 400")]),
    ExchangeCourse(
      "an upgrade with bytes after it is refused over HTTP/1.1",
      [(.head(ended: true), ""), (.upgrade(surplus: true), "refuse 400")], over: [.http11]),
    ExchangeCourse(
      "an extended CONNECT whose stream has ended is refused",
      [(.head(.other, ended: true), ""), (.upgrade(), "refuse 400")], over: [.http2]),
    ExchangeCourse(
      "an extended CONNECT that is given up before the switch has left",
      [
        (.head(.other, ended: false), ""), (.upgrade(), ""), (.ask, ""), (.end, "withdraw"),
        (.left(), "499 clientLeft"),
      ], over: [.http2]),
  ]

  @Test("Each course of events leads to its steps, over both transports", arguments: courses)
  func course(_ course: ExchangeCourse) throws {
    for version in course.versions {
      var bench = try ExchangeBench(version)
      for (place, step) in course.events.enumerated() {
        let wanted = version == .http2 ? step.overHTTP2 ?? step.step : step.step
        #expect(bench.apply(step.event) == wanted, "\(version.rawValue), event \(place): \(step.event)")
      }
    }
  }

  @Test("An endpoint's response is for its own request, not for the next one on the connection")
  func lateEndpoint() throws {
    var bench = try ExchangeBench(.http11)
    _ = bench.apply(.head(.post, ended: false))
    _ = bench.apply(.endpoint())
    guard case .handle(let first) = bench.exchange.receivedEnd(trailers: []) else { throw Unexpected() }
    #expect(bench.exchange.isHandling(first))
    bench.exchange.end()
    #expect(!bench.exchange.isHandling(first))
    _ = bench.apply(.head(.post, ended: false))
    _ = bench.apply(.endpoint())
    guard case .handle(let second) = bench.exchange.receivedEnd(trailers: []) else { throw Unexpected() }
    #expect(!bench.exchange.isHandling(first) && bench.exchange.isHandling(second))
  }

  private struct Unexpected: Error {}

  @Test("An exchange that begins knows nothing of the one before it", arguments: [HTTPVersion.http11, .http2])
  func begins(_ version: HTTPVersion) throws {
    var bench = try ExchangeBench(version)
    for event: ExchangeEvent in [
      .head(.post, ended: false), .forward(.chunked), .content(7), .ask, .failed(.responseTimeout), .left(),
    ] {
      _ = bench.apply(event)
    }
    bench.exchange.end()
    #expect(!bench.exchange.isUnderWay)
    _ = bench.apply(.head(ended: true))
    let exchange = bench.exchange
    #expect(exchange.isUnderWay && !exchange.hasResponse && exchange.status == 0 && exchange.review == nil)
    #expect(exchange.info.receivedBytes == 0 && exchange.info.failure == nil && exchange.info.routeClass == -1)
    #expect(!exchange.upstream.hasContentWaiting && exchange.upstream.head == nil && !exchange.upstream.isWaiting)
  }
}

@Suite("The upstream's part of an exchange")
struct UpstreamRequestTests {
  private let rules = ForwardingRules(reservedNames: [], sessionCookieName: "c", scheme: "https")

  @Test("Content that waited is sent in one chunk, with the end of the body if that has come")
  func chunks() throws {
    let bench = try ExchangeBench(.http11)
    var request = UpstreamRequest()
    request.isChunked = true
    request.keep(ByteBuffer(string: "abc"))
    request.keep(ByteBuffer(string: "de"))
    var whole = request
    #expect(
      request.takeFirstContent(isComplete: false, rules: rules, bench.loop) == ByteBuffer(string: "5\r\nabcde\r\n"))
    #expect(
      whole.takeFirstContent(isComplete: true, rules: rules, bench.loop)
        == ByteBuffer(string: "5\r\nabcde\r\n0\r\n\r\n"))
    #expect(request.takeFirstContent(isComplete: true, rules: rules, bench.loop) == ByteBuffer(string: "0\r\n\r\n"))
    #expect(!request.hasContentWaiting)
  }

  @Test("Content is kept for an HTTP/2 upstream that may not process it, up to 64 KiB, and is sent as it was")
  func replay() throws {
    let bench = try ExchangeBench(.http11, speaks: .http2)
    for (count, avoided) in [(65_536, UInt64(0)), (65_537, nil)] {
      var request = UpstreamRequest()
      request.balancer = bench.balancer
      request.keep(ByteBuffer(repeating: 1, count: count))
      #expect(request.takeFirstContent(isComplete: true, rules: rules, bench.loop)?.readableBytes == count)
      #expect(request.prepareRetry(after: .notProcessed) == avoided)
      #expect(request.hasContentWaiting == (avoided != nil))
      if avoided != nil { #expect(request.takeWaiting()?.readableBytes == count) }
    }
    var request = UpstreamRequest()
    request.balancer = bench.balancer
    request.keep(ByteBuffer(string: "abc"))
    _ = request.takeFirstContent(isComplete: false, rules: rules, bench.loop)
    request.loseReplay()
    #expect(request.prepareRetry(after: .notProcessed) == nil)
  }

  @Test("Time in which the body was not read does not count against its rate")
  func pace() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    let grace = TimeAmount.seconds(10)
    var pace = BodyPace(rate: 100, began: start)
    #expect(!pace.isTooSlow(received: 0, at: start + .seconds(10), grace: grace))
    #expect(pace.isTooSlow(received: 0, at: start + .seconds(11), grace: grace))
    #expect(!pace.isTooSlow(received: 100, at: start + .seconds(11), grace: grace))
    pace.hold(true, at: start + .seconds(5))
    // A second sign of the same pause does not begin it again.
    pace.hold(true, at: start + .seconds(50))
    #expect(!pace.isTooSlow(received: 0, at: start + .seconds(60), grace: grace))
    pace.hold(false, at: start + .seconds(65))
    #expect(pace.held == .seconds(60) && pace.heldSince == nil)
    #expect(!pace.isTooSlow(received: 0, at: start + .seconds(70), grace: grace))
    #expect(pace.isTooSlow(received: 99, at: start + .seconds(71), grace: grace))
    #expect(!BodyPace(rate: 0, began: start).isTooSlow(received: 0, at: start + .hours(1), grace: grace))
  }
}

@Suite("Request bodies that are collected to get a length")
struct CollectedBodyTests {
  /// The head that a chunked request was written with, as it is sent in the end.
  private func sent(_ bench: inout ExchangeBench) -> String? {
    bench.exchange.upstream.head = ByteBuffer(
      string: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    bench.exchange.upstream.settleBody(.put)
    return bench.exchange.upstream.head.map { String(buffer: $0) }
  }

  @Test("A body without a length is collected, and sent with its length", arguments: [HTTPVersion.http11, .http2])
  func collected(_ version: HTTPVersion) throws {
    var bench = try ExchangeBench(version, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    #expect(bench.apply(.forward(.chunked)) == "")
    #expect(bench.apply(.content(4)) == "buffer")
    #expect(bench.apply(.look) == "not ready")
    #expect(bench.apply(.content(6)) == "buffer")
    #expect(bench.apply(.end) == "send")
    #expect(bench.apply(.look) == "ready")
    #expect(sent(&bench) == "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
    #expect(bench.exchange.upstream.takeWaiting()?.readableBytes == 10)
  }

  @Test("A collected body does not make a connection shared that its request may authenticate")
  func authenticated() throws {
    var bench = try ExchangeBench(.http11, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    _ = bench.apply(.forward(.chunked))
    bench.exchange.upstream.authenticatesConnection = true
    bench.exchange.upstream.endsConnection = true
    _ = bench.apply(.content(4))
    _ = bench.apply(.end)
    bench.exchange.upstream.head = ByteBuffer(
      string: "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
    bench.exchange.upstream.settleBody(.put)
    #expect(bench.exchange.upstream.endsConnection)
    #expect(
      bench.exchange.upstream.head
        == ByteBuffer(string: "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"))
  }

  @Test("One byte too many is refused with 411", arguments: [HTTPVersion.http11, .http2])
  func tooLong(_ version: HTTPVersion) throws {
    var bench = try ExchangeBench(version, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    _ = bench.apply(.forward(.chunked))
    #expect(bench.apply(.content(10)) == "buffer")
    #expect(bench.apply(.content(1)) == "refuse 411")
  }

  @Test("Content that came while the gate decided counts, and is sent")
  func early() throws {
    var bench = try ExchangeBench(.http2, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    #expect(bench.apply(.content(8)) == "keep")
    #expect(bench.apply(.forward(.chunked)) == "")
    #expect(bench.apply(.content(2)) == "buffer")
    #expect(bench.apply(.end) == "send")
    #expect(bench.exchange.upstream.takeWaiting()?.readableBytes == 10)
    var other = try ExchangeBench(.http2, requestBuffer: 10)
    _ = other.apply(.head(.put, ended: false))
    _ = other.apply(.content(11))
    #expect(other.apply(.forward(.chunked)) == "refuse 411")
  }

  @Test("A body with a length, and an upgrade, are never collected")
  func others() throws {
    var bench = try ExchangeBench(.http11, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    #expect(bench.apply(.forward(.length(50))) == "")
    #expect(bench.apply(.look) == "ready")
    #expect(bench.apply(.content(20)) == "keep")
  }

  @Test("Trailers end with the chunks that they belong to")
  func trailers() throws {
    var bench = try ExchangeBench(.http11, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    _ = bench.apply(.forward(.chunked))
    _ = bench.apply(.content(2))
    _ = bench.exchange.receivedEnd(trailers: Array("X-Sum: 1\r\n".utf8))
    #expect(sent(&bench)?.contains("Content-Length: 2\r\n") == true)
    #expect(bench.exchange.upstream.trailers.isEmpty)
  }

  @Test("Without a setting, bodies are collected up to 64 KiB while the last response was HTTP/1.0")
  func learned() throws {
    let bench = try ExchangeBench(.http11)
    #expect(bench.balancer.requestBuffer == 0)
    bench.balancer.pools[1].answered(isHTTP11: false)
    #expect(bench.balancer.requestBuffer == 64 * 1024)
    bench.balancer.pools[1].answered(isHTTP11: true)
    #expect(bench.balancer.requestBuffer == 0)
    let fixed = try ExchangeBench(.http11, requestBuffer: 0)
    fixed.balancer.pools[0].answered(isHTTP11: false)
    #expect(fixed.balancer.requestBuffer == 0)
    let framed = try ExchangeBench(.http11, speaks: .http2, requestBuffer: 10)
    #expect(framed.balancer.requestBuffer == 0)
  }
}
