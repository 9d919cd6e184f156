import AppleIdentity
import FoundationEssentials
import HTTPTypes
import Synchronization

/// A clock that does not advance until the test moves it.
final class TestClock: Sendable {
  private let now: Mutex<Date>

  init(_ start: Date = Date(timeIntervalSince1970: 1_750_000_000)) {
    now = Mutex(start)
  }

  var time: Date { now.withLock { $0 } }
  func advance(_ seconds: TimeInterval) { now.withLock { $0 = $0.addingTimeInterval(seconds) } }
  var read: AppleClock { { self.time } }
}

/// Answers in Apple's place with what the test ordered, and keeps what it was asked.
final class FakeApple: Sendable {
  enum Answer: Sendable {
    case response(AppleHTTPResponse)
    case failure(AppleTransportError)

    static func json(_ text: String, status: Int = 200, date: String? = nil) -> Answer {
      .response(
        AppleHTTPResponse(status: status, contentType: "application/json", date: date, body: Array(text.utf8)))
    }
  }

  private struct State {
    var requests: [AppleHTTPRequest] = []
    var answers: [String: [Answer]] = [:]
  }
  private let state = Mutex(State())
  /// Awaited before each answer.
  private let gate: @Sendable () async -> Void

  init(gate: @escaping @Sendable () async -> Void = {}) {
    self.gate = gate
  }

  /// The responses at a path, in this order; the last one is repeated.
  func answer(_ path: String, _ answers: Answer...) {
    state.withLock { $0.answers[path] = answers }
  }

  func requests(to path: String) -> [AppleHTTPRequest] {
    state.withLock { $0.requests.filter { $0.head.path == path } }
  }

  var transport: AppleTransport {
    { (request: AppleHTTPRequest) async throws(AppleTransportError) -> AppleHTTPResponse in
      let answer = self.state.withLock { state in
        state.requests.append(request)
        let path = request.head.path ?? ""
        guard let answers = state.answers[path], let first = answers.first else {
          return Answer.response(AppleHTTPResponse(status: 404))
        }
        if answers.count > 1 { state.answers[path] = Array(answers.dropFirst()) }
        return first
      }
      await self.gate()
      switch answer {
      case .response(let response): return response
      case .failure(let error): throw error
      }
    }
  }
}

/// Closed until its stream ends.
actor Gate {
  private var opening: Task<Void, Never>

  init(_ stream: AsyncStream<Void>) {
    opening = Task { for await _ in stream {} }
  }

  func wait() async { await opening.value }
}
