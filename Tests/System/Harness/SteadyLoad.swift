import Foundation

/// Requests without a pause, by several clients at once, half of which keep their connection and half of which make a
/// new one each time; whatever is not answered as it should be is noted.
final class SteadyLoad: Sendable {
  private let port: UInt16
  private let idleGrace: Duration
  private let request: [UInt8]
  private let state = Watched(State())

  private struct State {
    var answered = 0
    var complaints: [String] = []
    var cutOff: [String] = []
    var isOver = false
    var running = 0
  }

  /// Begins.
  /// - Parameters:
  ///   - fields: the fields of each request in addition to `Host`.
  ///   - idleGrace: the time for which a gateway that ends keeps an idle connection. A client that sends nothing for
  ///     longer, as on a machine that is busy, finds it closed and asks on another one.
  init(
    port: UInt16, target: String = "/load", fields: [(String, String)] = [], clients: Int = 4,
    idleGrace: Duration = .milliseconds(250)
  ) {
    self.port = port
    self.idleGrace = idleGrace
    let lines = ["GET \(target) HTTP/1.1", "Host: \(GatewayConfiguration.host):\(port)"]
    request = Array(((lines + fields.map { "\($0): \($1)" }).joined(separator: "\r\n") + "\r\n\r\n").utf8)
    state.update { $0.running = clients }
    for number in 0..<clients {
      Thread.detachNewThread { [self] in
        if number % 2 == 0 { keepOneConnection() } else { connectEachTime() }
        state.update { $0.running -= 1 }
      }
    }
  }

  /// The number of responses with 200 so far.
  var answered: Int { state.current.answered }

  /// The errors so far, without responses that were cut off.
  var complaints: [String] { state.current.complaints }

  /// The responses so far that ended within their body: no proxy can ask another server for the rest, because the
  /// client has the beginning.
  var cutOff: [String] { state.current.cutOff }

  /// Waits until so many more were answered, so that what a test does next happens under load.
  func waitForMore(_ count: Int = 20, by deadline: Deadline = .standard) throws {
    let goal = answered + count
    try state.take("\(count) more answers", by: deadline) { $0.answered >= goal || !$0.complaints.isEmpty ? () : nil }
  }

  /// Ends the load, and returns all errors.
  @discardableResult
  func stop() throws -> [String] {
    state.update { $0.isOver = true }
    try state.take("the clients to end", by: .standard) { $0.running == 0 ? () : nil }
    return state.current.complaints + state.current.cutOff
  }

  /// A connection that says `Connection: close` with a response ends as announced; the next connection continues.
  private func keepOneConnection() {
    while !state.current.isOver {
      attempt {
        let connection = try TCPConnection(port: port)
        defer { connection.close() }
        var asked: ContinuousClock.Instant?
        while !state.current.isOver {
          let before = asked
          asked = .now
          guard let response = try ask(on: connection, askedBefore: before) else { return }
          if response.fields["Connection"]?.lowercased() == "close" { return }
        }
      }
    }
  }

  private func connectEachTime() {
    while !state.current.isOver {
      attempt {
        let connection = try TCPConnection(port: port)
        defer { connection.close() }
        _ = try ask(on: connection)
      }
    }
  }

  private func ask(on connection: TCPConnection) throws -> HTTPResponse {
    try connection.send(request)
    return try answer(on: connection)
  }

  /// Asks on a connection that was asked before.
  /// - Returns: nil if it was closed without a byte of a response after it had been idle for longer than the grace:
  ///   browsers ask again on another connection then (RFC 9110, 9.2.2).
  private func ask(
    on connection: TCPConnection, askedBefore last: ContinuousClock.Instant?
  ) throws -> HTTPResponse? {
    // Known once the request is sent: this thread may be held up until then.
    var sent: ContinuousClock.Instant?
    do {
      try connection.send(request)
      sent = .now
      return try answer(on: connection)
    } catch {
      guard let last, (sent ?? ContinuousClock.now) - last >= idleGrace, connection.received.isEmpty,
        Self.isClosure(error)
      else { throw error }
      return nil
    }
  }

  private func answer(on connection: TCPConnection) throws -> HTTPResponse {
    let response = try HTTPResponse.read(from: connection)
    guard response.status == 200 else { throw HarnessError.malformed("answered \(response.status)") }
    state.update { $0.answered += 1 }
    return response
  }

  /// Whether an error says that the peer has closed the connection, outside the body of a response.
  private static func isClosure(_ error: any Error) -> Bool {
    guard let error = error as? HarnessError else { return false }
    switch error {
    case .endOfStream: return true
    case .system(_, let code): return code == EPIPE || code == ECONNRESET
    case .timedOut, .cutOff, .malformed, .missing, .exited: return false
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch HarnessError.cutOff(let what) {
      state.update { $0.cutOff.append(what) }
    } catch {
      state.update { $0.complaints.append("\(error)") }
    }
  }
}
