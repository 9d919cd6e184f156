import ArgumentParser
import FoundationEssentials
import Glibc
import Synchronization
import UnixSignals

/// `cordon demo`: simulator, example application and gateway on loopback, started and stopped together.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Demonstrates Sign in with Apple for an existing application, without contacting Apple.",
    discussion: """
      Starts a simulated Apple (apple-simulator, in the same folder as this program), an example application (Python's \
      standard library) and a gateway, all on loopback with temporary keys, and prints the address to open. If a port \
      is in use, the next free one is used. Ctrl-C stops everything.
      """)

  @Option(help: "The gateway's port.")
  var port = 8080

  @Option(help: "The simulator's port.")
  var simulatorPort = 8090

  @Option(help: "The application's port.")
  var appPort = 3000

  @Option(help: "The port of the gateway's admin listener.")
  var adminPort = 9901

  @Option(
    help: ArgumentHelp("The application: a Python program that takes its port as argument.", valueName: "file"),
    completion: .file())
  var app: String?

  func validate() throws {
    for (option, port) in [
      ("--port", port), ("--simulator-port", simulatorPort), ("--app-port", appPort), ("--admin-port", adminPort),
    ] where !LoopbackPort.valid.contains(port) {
      throw ValidationError("\(option) \(port) is not a port: give a number from 1 to 65535.")
    }
  }

  /// The time that a part may take to become ready, in seconds.
  private static let patience = 30.0

  func run() async throws {
    let installation = try DemoInstallation(app: app)
    let interruption = Interruption()
    // Trapped before anything is created, so that there is no moment in which Ctrl-C leaves something behind.
    let signals = await UnixSignalsSequence(trapping: Self.ends)
    let folder = try DemoFolder()
    defer { folder.remove() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await _ in signals {
          interruption.flag.store(true, ordering: .relaxed)
        }
      }
      var parts: [DemoPart] = []
      do {
        try await start(&parts, installation: installation, folder: folder, interruption: interruption)
        try await waitForEnd(of: parts, interruption: interruption)
        await stop(parts)
      } catch is InterruptedError {
        await stop(parts)
      } catch {
        await stop(parts)
        group.cancelAll()
        throw error
      }
      group.cancelAll()
    }
  }

  /// The signals that end it: Ctrl-C, `kill`, and the end of the terminal, unless nohup(1) has had that ignored.
  private static var ends: [UnixSignal] {
    var action = sigaction()
    sigaction(SIGHUP, nil, &action)
    let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self) == 1
    return isIgnored ? [.sigint, .sigterm] : [.sigint, .sigterm, .sighup]
  }

  // MARK: Start

  private func start(
    _ parts: inout [DemoPart], installation: DemoInstallation, folder: DemoFolder,
    interruption: Interruption
  ) async throws {
    let line = StatusLine()
    line.show("Starting a simulated Apple, the application and the gateway")
    defer { line.clear() }
    var taken: Set<Int> = []
    let settings = try DemoSettings(
      port: LoopbackPort.free(from: port, taken: &taken),
      simulatorPort: LoopbackPort.free(from: simulatorPort, taken: &taken),
      appPort: LoopbackPort.free(from: appPort, taken: &taken),
      adminPort: LoopbackPort.free(from: adminPort, taken: &taken), folder: folder.path)
    try settings.write()

    parts.append(
      try DemoPart(
        name: "simulator", program: installation.simulator, arguments: settings.simulatorArguments, folder: folder))
    parts.append(
      try DemoPart(
        name: "application", program: installation.python,
        arguments: [installation.app, String(settings.appPort)], folder: folder))
    try await waitForAnswer(from: settings.simulatorPort, path: "/auth/keys", parts, interruption: interruption)
    try await waitForAnswer(from: settings.appPort, path: "/", parts, interruption: interruption)
    parts.append(
      try DemoPart(
        name: "gateway", program: installation.gateway, arguments: ["run", "--config", settings.configurationFile],
        folder: folder))
    try await waitForAnswer(from: settings.adminPort, path: "/readyz", parts, interruption: interruption)
    line.clear()
    // Nobody would know the address: the parts are stopped.
    try StandardOutput.write(settings.welcome)
  }

  private func waitForAnswer(
    from port: Int, path: String, _ parts: [DemoPart], interruption: Interruption
  ) async throws {
    let deadline = Date().addingTimeInterval(Self.patience)
    while !LoopbackPort.answers(port, path: path) {
      if interruption.flag.load(ordering: .relaxed) { throw InterruptedError() }
      if let ended = parts.first(where: { !$0.isRunning }) { throw DemoError.ended(ended.name, log: ended.log) }
      if Date() >= deadline, let last = parts.last { throw DemoError.notReady(last.name, log: last.log) }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  // MARK: Stop

  private func waitForEnd(of parts: [DemoPart], interruption: Interruption) async throws {
    while !interruption.flag.load(ordering: .relaxed) {
      if let ended = parts.first(where: { !$0.isRunning }) { throw DemoError.ended(ended.name, log: ended.log) }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  /// Stops the gateway first, so that it does not see the others disappear.
  private func stop(_ parts: [DemoPart]) async {
    for part in parts.reversed() { await part.stop() }
  }
}

/// Whether one of the signals that end the demo was received.
private final class Interruption: Sendable {
  let flag = Atomic(false)
}

/// Such a signal while something was still starting.
private struct InterruptedError: Error {}

/// The reason why the demo cannot go on.
enum DemoError: Error, CustomStringConvertible {
  case missing(String, remedy: String)
  case noPort(Int)
  case folder(String)
  case notStarted(String, reason: String)
  case notReady(String, log: String)
  case ended(String, log: String)

  var description: String {
    switch self {
    case .missing(let what, let remedy): "\(what) was not found; \(remedy)"
    case .noPort(let port):
      "no free port on loopback from \(port) on; choose another (--port, --simulator-port, --app-port, --admin-port)"
    case .folder(let reason): "no temporary folder: \(reason); name one that you may write to by TMPDIR"
    case .notStarted(let name, let reason): "the \(name) could not be started: \(reason)"
    case .notReady(let name, let log): "the \(name) did not get ready; its log says:\n\(log)"
    case .ended(let name, let log): "the \(name) has ended; its log says:\n\(log)"
    }
  }
}
