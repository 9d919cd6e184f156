import HTTPTypes
import HTTPWire
import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

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
  /// - Returns: the step that it leads to, in words; empty if it leads to no step.
  mutating func apply(_ event: ExchangeEvent) -> String {
    switch event {
    case .head(let method, let ended):
      exchange.begin(loop.requestIDs.next(), version, isWhole: ended, at: now)
      exchange.info.method = method
      return ""
    case .answer:
      exchange.answer(label: .init(number: 2))
      return ""
    case .endpoint(let limit, let framing):
      let action = EndpointAction(bodyLimit: limit, label: .init(number: 3)) { _ in ControlResponse(.ok) }
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
    var directive = ForwardingDirective(label: .init(number: 1), allowsUpgrade: true)
    let traits = Exchange.RequestTraits(
      framing: framing, wantsUpgrade: upgrades, authenticatesConnection: false, hasSurplus: surplus)
    let refusal = exchange.forward(
      traits, by: &directive, to: balancer, limits: BodyLimits(bytes: limit, rate: 100, grace: .seconds(10)), at: now)
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
