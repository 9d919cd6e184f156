import HTTPTypes
import HTTPWire
import NIOCore
import SocketTransport
import Synchronization

@testable import DataPlane

/// A gate that decides by the path, as a test says.
final class ScriptedGate: RequestGate {
  typealias Decision = @Sendable (_ path: String, _ client: ClientPeer) -> GateDecision
  private let decision: Decision

  init(_ decision: @escaping Decision) { self.decision = decision }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision {
    decision(bytes.string(head.path), client)
  }

  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    ControlResponse(.init(code: status), body: Array(reason.utf8))
  }

  func answer(
    to ending: ExchangeEnding, credential: UInt64, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    let body = preferences.body.map { " \($0)" } ?? ""
    return ControlResponse(.unauthorized, body: Array("\(ending)\(body)".utf8))
  }

  static let forwards: Decision = { _, _ in
    .forward(ForwardingDirective(label: .init(number: 1), allowsUpgrade: true))
  }
}

/// Keeps what happened.
final class Recorder: ExchangeObserver, Sendable {
  struct Log: Sendable {
    var began = 0
    var statuses: [Int] = []
    var requests: [String] = []
    var received: [Int] = []
    var sent: [Int] = []
    var clients = 0
    var upstreams = 0
    var upstreamsOpened = 0
    var upstreamsFailed = 0
    var connectTimes: [TimeAmount] = []
    var handshakeFailures: [HandshakeFailure] = []
    var tunnelsOpened = 0
    var failures: [ExchangeFailure] = []
    var usesHTTP11: [Bool] = []
    var users: [UInt64?] = []
  }

  private let state = Mutex(Log())
  var log: Log { state.withLock { $0 } }

  var wantsRequestLine: Bool { true }
  func exchangeBegan() { state.withLock { $0.began += 1 } }
  func exchangeEnded(_ record: borrowing ExchangeRecord) {
    let (status, received, sent) = (record.status, record.receivedBytes, record.sentBytes)
    let request = record.request.map { String(buffer: $0) } ?? ""
    let (failure, version, user) = (record.failure, record.version, record.user)
    state.withLock {
      $0.statuses.append(status)
      $0.requests.append(request)
      $0.received.append(received)
      $0.sent.append(sent)
      $0.users.append(user)
      $0.usesHTTP11.append(version == .http11)
      if let failure { $0.failures.append(failure) }
    }
  }
  func connectionsChanged(by difference: Int) { state.withLock { $0.clients += difference } }
  func handshakeFailed(_ failure: HandshakeFailure, of client: String) {
    state.withLock { $0.handshakeFailures.append(failure) }
  }
  func upstreamConnectionOpened(after duration: TimeAmount) {
    state.withLock {
      $0.upstreams += 1
      $0.upstreamsOpened += 1
      $0.connectTimes.append(duration)
    }
  }
  func upstreamConnectionFailed(_ failure: ExchangeFailure) { state.withLock { $0.upstreamsFailed += 1 } }
  func upstreamConnectionEnded() { state.withLock { $0.upstreams -= 1 } }
  func tunnelOpened() { state.withLock { $0.tunnelsOpened += 1 } }
}

/// A gateway's data plane, and the application behind it.
struct GatewayRig: Sendable {
  let port: UInt16
  let upstream: ScriptedUpstream
  let recorder: Recorder
  let listener: Listener
  let group: SocketEventLoopGroup
  let target: UpstreamGroup

  var log: Recorder.Log { recorder.log }

  func connect(receiveBuffer: Int32? = nil) throws -> RawSocket {
    try RawSocket.connect(port: port, receiveBuffer: receiveBuffer)
  }

  /// Sends bytes on a connection of their own, and reads one response.
  func exchange(_ request: String, toHead: Bool = false) async throws -> PlainResponse {
    try await blocking {
      let client = try connect()
      try client.send(request)
      return try client.readResponse(toHead: toHead)
    }
  }

  /// Whether the next honest request is answered: the process and its upstream are well.
  func isWell() async throws -> Bool {
    try await exchange("GET /well HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status == 200
  }
}

/// Limits how many gateways run at the same time: the tests of all suites begin together, and each gateway has its own
/// threads.
final class GatewayTurns: Sendable {
  static let shared = GatewayTurns(limit: 4)

  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(free: limit)) }

  func begin() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func end() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}

/// Answers each request with its number and its body, until the connection ends.
let echoing: ScriptedUpstream.Script = { socket, number in
  var count = 0
  while true {
    let request = try socket.readRequest()
    try socket.answer("\(number).\(count):" + String(decoding: request.body, as: UTF8.self))
    count += 1
  }
}

/// Reads the first request, up to the end of its head, and leaves the rest of that connection to `answer`; later
/// connections are served as by `echoing`.
func answeringFirst(_ answer: @escaping @Sendable (RawSocket) throws -> Void) -> ScriptedUpstream.Script {
  { socket, number in
    guard number == 0 else { return try echoing(socket, number) }
    _ = try socket.readHead()
    try answer(socket)
  }
}

extension UpstreamTimeouts {
  /// Timeouts that end nothing.
  static var unreachable: UpstreamTimeouts {
    var timeouts = UpstreamTimeouts()
    timeouts.connect = DataPlaneTests.unreachable
    timeouts.firstByte = DataPlaneTests.unreachable
    timeouts.bodyProgress = DataPlaneTests.unreachable
    timeouts.idle = DataPlaneTests.unreachable
    return timeouts
  }
}

func withGateway(
  gate: @escaping ScriptedGate.Decision = ScriptedGate.forwards,
  listener change: (inout ListenerSettings) -> Void = { _ in },
  upstream changeUpstream: (inout UpstreamSettings) -> Void = { _ in },
  receiveBuffer: Int32? = nil, loops: Int = 1,
  script: @escaping ScriptedUpstream.Script = echoing,
  _ body: (GatewayRig) async throws -> Void
) async throws {
  await GatewayTurns.shared.begin()
  defer { GatewayTurns.shared.end() }
  let upstream = try ScriptedUpstream(receiveBuffer: receiveBuffer, script)
  let group = try SocketEventLoopGroup(loops: loops)
  let recorder = Recorder()
  var settings = ListenerSettings(address: .ip(host: "127.0.0.1", port: 0))
  // No timeout ends a test on a busy machine, unless the test sets it.
  settings.timeouts.head = unreachable
  settings.timeouts.handshake = unreachable
  settings.timeouts.bodyProgress = unreachable
  settings.timeouts.bodyGrace = unreachable
  settings.timeouts.idle = unreachable
  settings.timeouts.writeProgress = unreachable
  change(&settings)
  var upstreamSettings = UpstreamSettings(address: .tcp(host: "127.0.0.1", port: upstream.port, tls: false))
  upstreamSettings.timeouts = .unreachable
  changeUpstream(&upstreamSettings)
  let target = try UpstreamGroup(upstreamSettings)
  let configuration = try ListenerConfiguration(
    settings,
    rules: ForwardingRules(reservedNames: ["X-Forwarded-User"], sessionCookieName: "__Host-cordon", scheme: "https"),
    upstreams: [target])
  let listener = try await Listener.start(configuration, on: group.loops) { _ in
    ListenerDependencies(gate: ScriptedGate(gate), observer: recorder)
  }
  guard case .ip(_, let port) = listener.address else { return }
  let rig = GatewayRig(
    port: port, upstream: upstream, recorder: recorder, listener: listener, group: group, target: target)
  var failure: (any Error)?
  do { try await body(rig) } catch { failure = error }
  upstream.stop()
  await listener.drain(within: .zero)
  try await group.shutdownGracefully()
  if let failure { throw failure }
}
