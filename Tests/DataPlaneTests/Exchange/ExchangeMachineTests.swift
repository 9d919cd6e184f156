import HTTPWire
import Testing

@testable import DataPlane

// Cases: answers and endpoints; bodies forwarded, kept, too large, too slow, held; upgrades; responses; failures and
// retries; deadlines; clients that leave. Each table is run for HTTP/1.1 and for HTTP/2.

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
    #expect(exchange.info.receivedBytes == 0 && exchange.info.failure == nil && exchange.info.label == .undecided)
    #expect(!exchange.upstream.hasContentWaiting && exchange.upstream.head == nil && !exchange.upstream.isWaiting)
  }
}
