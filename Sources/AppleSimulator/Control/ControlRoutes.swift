import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

/// The control API under `/simulator/`: JSON in, JSON out. `examples/apple-simulator/README.md` describes each request.
struct ControlRoutes: Sendable {
  let apple: SimulatedApple

  func add(to router: Router<BasicRequestContext>) {
    addClients(to: router)
    addSettings(to: router)
    addFaults(to: router)
    addObservations(to: router)
    UserControl(apple: apple).add(to: router)
    TokenControl(apple: apple).add(to: router)
    NotificationControl(apple: apple).add(to: router)
  }

  // MARK: Clients

  private func addClients(to router: Router<BasicRequestContext>) {
    router.put("/simulator/clients") { request, _ in
      let client: SimulatedClient = try await Self.body(of: request)
      return try apple.withState { state, _ in try Self.register(client, in: &state) }
    }
    router.post("/simulator/clients/{id}/transfer") { request, context in
      let order: TransferOrder = try await Self.body(of: request)
      let id = try context.parameters.require("id")
      return try apple.withState { state, now in
        guard var client = state.clients[id] else { throw ControlError(message: "there is no client \(id)") }
        client.teamID = order.teamID
        client.keys = order.keys
        client.transferEnds = now + Migration.lifetime
        return try Self.register(client, in: &state)
      }
    }
    router.delete("/simulator/clients/{id}") { _, context in
      let id = try context.parameters.require("id")
      apple.withState { state, _ in state.clients[id] = nil }
      return Response(status: .noContent)
    }
  }

  private static func register(_ client: SimulatedClient, in state: inout SimulatorState) throws -> Response {
    do throws(RegistrationError) {
      try client.validate(allowingLoopback: state.switches.allowsLoopbackRedirects)
    } catch {
      throw ControlError(message: error.description)
    }
    state.clients[client.clientID] = client
    return try Response.json(client)
  }

  // MARK: Switches, clock, automatic answer

  private func addSettings(to router: Router<BasicRequestContext>) {
    router.post("/simulator/switches") { request, _ in
      let change: SimulatorSwitches.Change = try await Self.body(of: request)
      return try Response.json(
        apple.withState { state, _ in
          state.switches.apply(change)
          return state.switches
        })
    }
    router.post("/simulator/clock") { request, _ in
      let order: ClockOrder = try await Self.body(of: request)
      let now = apple.withState { state, now in
        let before = state.clockOffset
        order.move(&state)
        return now - before + state.clockOffset
      }
      return try Response.json(["now": now])
    }
    router.put("/simulator/answer") { request, _ in
      let answer: AutomaticAnswer = try await Self.body(of: request)
      apple.withState { state, _ in state.automaticAnswer = answer }
      return try Response.json(answer)
    }
    router.delete("/simulator/answer") { _, _ in
      apple.withState { state, _ in state.automaticAnswer = nil }
      return Response(status: .noContent)
    }
  }

  // MARK: Faults and tampering

  private func addFaults(to router: Router<BasicRequestContext>) {
    router.post("/simulator/faults") { request, _ in
      let fault: OrderedFault = try await Self.body(of: request)
      apple.withState { state, _ in state.faults.append(fault) }
      return try Response.json(fault)
    }
    router.get("/simulator/faults") { _, _ in
      try Response.json(["faults": apple.withState { state, _ in state.faults }])
    }
    router.delete("/simulator/faults") { _, _ in
      apple.withState { state, _ in state.faults = [] }
      return Response(status: .noContent)
    }
    router.post("/simulator/tamper") { request, _ in
      let tampering: OrderedTampering = try await Self.body(of: request)
      apple.withState { state, _ in state.tampering.append(tampering) }
      return try Response.json(tampering)
    }
    router.delete("/simulator/tamper") { _, _ in
      apple.withState { state, _ in state.tampering = [] }
      return Response(status: .noContent)
    }
  }

  // MARK: Recorded requests

  private func addObservations(to router: Router<BasicRequestContext>) {
    router.get("/simulator") { _, _ in
      try Response.json(apple.withState { state, now in StateSummary(state: state, now: now) })
    }
    router.get("/simulator/requests") { request, _ in
      let path = SubmittedForm(query: request.uri.query)["path"]
      let seen = apple.withState { state, _ in state.requests.filter { path == nil || $0.path == path } }
      return try Response.json(["requests": seen])
    }
    router.delete("/simulator/requests") { _, _ in
      apple.withState { state, _ in state.requests = [] }
      return Response(status: .noContent)
    }
    router.get("/simulator/checks") { _, _ in
      try Response.json(["checks": apple.withState { state, _ in state.checks }])
    }
    router.post("/simulator/reset") { _, _ in
      apple.reset()
      return Response(status: .noContent)
    }
  }

  /// The JSON of a request's body; an empty body counts as `{}`.
  ///
  /// - Throws: a 400 that names what does not fit.
  static func body<Value: Decodable>(of request: Request) async throws -> Value {
    let buffer = try await request.body.collect(upTo: 4_194_304)
    let data = buffer.readableBytes == 0 ? Data("{}".utf8) : Data(buffer.readableBytesView)
    do {
      return try JSONDecoder().decode(Value.self, from: data)
    } catch {
      throw ControlError(message: "the body does not fit: \(error)")
    }
  }
}

/// An invalid control request: a 400 with the reason.
struct ControlError: HTTPResponseError {
  let message: String
  var status: HTTPResponse.Status { .badRequest }

  func response(from request: Request, context: some RequestContext) throws -> Response {
    try Response.json(["error": message], status: status)
  }
}

/// The team that an app is transferred to (`POST /simulator/clients/ID/transfer`).
private struct TransferOrder: Decodable {
  var teamID: String
  /// The keys of the other team.
  var keys: [String: String]

  enum CodingKeys: String, CodingKey {
    case teamID = "team_id"
    case keys
  }
}

/// The change of the clock (`POST /simulator/clock`).
private struct ClockOrder: Decodable {
  /// Forward, or backward if negative.
  var advanceSeconds: Double?
  /// `checks` moves only the clock that checks are counted by, so that tokens and client secrets stay good.
  var only: Hand?
  /// Back to the real time, before anything is added.
  var reset: Bool?

  enum Hand: String, Decodable {
    case checks
  }

  enum CodingKeys: String, CodingKey {
    case advanceSeconds = "advance_seconds"
    case only, reset
  }

  func move(_ state: inout SimulatorState) {
    if reset == true {
      state.clockOffset = 0
      state.checksOffset = 0
    }
    let step = min(max(advanceSeconds ?? 0, -1e9), 1e9)
    if only == .checks {
      state.checksOffset = min(max(state.checksOffset + step, -1e10), 1e10)
    } else {
      state.clockOffset = min(max(state.clockOffset + step, -1e10), 1e10)
    }
  }
}

/// The response of `GET /simulator`.
private struct StateSummary: Encodable {
  let now: Double
  let clients: [SimulatedClient]
  let users: [SimulatedUser]
  let switches: SimulatorSwitches
  let refreshTokens: Int
  let faults: [OrderedFault]

  init(state: SimulatorState, now: Double) {
    self.now = now
    clients = state.clients.values.sorted { $0.clientID < $1.clientID }
    users = state.users
    switches = state.switches
    refreshTokens = state.refreshTokens.count
    faults = state.faults
  }

  enum CodingKeys: String, CodingKey {
    case now, clients, users, switches, faults
    case refreshTokens = "refresh_tokens"
  }
}
