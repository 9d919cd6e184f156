internal import DataPlane
internal import Logging
internal import Operations
internal import Synchronization

/// Warns while the file of a Unix socket that the gateway listens on is missing, or another file is in its place: in
/// the log, once for each change, and on `/healthz`.
///
/// Readiness does not depend on it: other listeners go on to serve, and whatever connects by the file fails by itself.
/// Nor is the socket bound again: somebody else may listen there on purpose.
final class SocketFileWatch: Sendable {
  private let sockets: [SocketFile]
  private let health: HealthMonitor
  private let logger: Logger
  /// The last known state, by path; none yet: present.
  private let states = Mutex<[String: SocketFile.State]>([:])

  /// The name of the check on `/healthz`, which is there while a file is missing.
  private static let checkName = "listening sockets"

  init(_ sockets: [SocketFile], health: HealthMonitor, logger: Logger) {
    self.sockets = sockets
    self.health = health
    self.logger = logger
  }

  /// Looks at every file. Nothing is done about a change but to report it.
  func look() -> FileRounds.Reaction? {
    check()
    return nil
  }

  /// Checks every file.
  func check() {
    if sockets.isEmpty { return }
    // By then a successor may have bound the address.
    guard !health.report.isDraining else { return }
    for socket in sockets {
      let state = socket.state
      guard state != .unknown else { continue }
      let before = states.withLock { $0.updateValue(state, forKey: socket.path) } ?? .present
      if state != before { log(socket, state) }
    }
    let states = states.withLock { $0 }
    let lost = sockets.compactMap { Self.trouble(with: $0, states[$0.path] ?? .present) }
    guard !lost.isEmpty else { return health.remove(Self.checkName) }
    health.update(
      Self.checkName, .failing, message: lost.map { "\($0.problem): \($0.remedy)" }.joined(separator: "; "),
      at: .now())
  }

  private func log(_ socket: SocketFile, _ state: SocketFile.State) {
    guard let trouble = Self.trouble(with: socket, state) else {
      return logger.notice("the file of a listening socket is back", metadata: ["path": "\(socket.path)"])
    }
    logger.error(
      "the file of a listening socket was removed or replaced, clients cannot connect",
      metadata: ["path": "\(socket.path)", "problem": "\(trouble.problem)", "remedy": "\(trouble.remedy)"])
  }

  private struct Trouble {
    let problem: String
    let remedy: String
  }

  /// Nil while clients reach the socket.
  private static func trouble(with socket: SocketFile, _ state: SocketFile.State) -> Trouble? {
    switch state {
    case .present, .unknown: return nil
    case .removed:
      let remedy =
        socket.isInherited
        ? "stop cordon, restart its socket unit, then start cordon, and see what removes the file"
        : "restart cordon, which makes it again, and see what removes it (a cleaner of temporary files, or another "
          + "service with the same RuntimeDirectory=)"
      return Trouble(problem: "\(socket.path) is missing", remedy: remedy)
    case .replaced:
      return Trouble(
        problem: "\(socket.path) is another file",
        remedy: "see what listens there (ss -lxp), stop one of the two, then restart cordon")
    }
  }
}
