import Foundation

/// The real gateway, running from a `gateway.conf` in a folder of its own.
@SystemActor
final class GatewayProcess {
  let configuration: GatewayConfiguration
  let directory: TemporaryDirectory
  let file: String
  private let environment: [String: String]
  private(set) var process: ServerProcess
  /// What earlier processes of this gateway wrote, for searches in the whole log.
  private var earlierOutput: [UInt8] = []

  /// Starts a gateway and waits until it is ready.
  init(
    _ configuration: GatewayConfiguration, clock: FakeClock? = nil, environment: [String: String] = [:]
  ) throws {
    self.configuration = configuration
    self.environment = environment.merging(clock?.environment ?? [:]) { $1 }
    directory = try TemporaryDirectory()
    file = try configuration.install(in: directory)
    process = try Self.launch(file, directory, environment)
    try waitUntilReady()
  }

  /// For requests as `localhost`, the gateway's public name.
  var client: HTTPClient { HTTPClient(port: configuration.port, host: GatewayConfiguration.host) }

  /// For the admin listener.
  var admin: HTTPClient { HTTPClient(port: configuration.adminPort) }

  var origin: String { "http://\(GatewayConfiguration.host):\(configuration.port)" }

  /// A raw connection to the public listener.
  func connect() throws -> TCPConnection { try TCPConnection(port: configuration.port) }

  /// Ends the process in an orderly way, and starts another one on the same folder, perhaps with another configuration
  /// (of the same ports).
  func restart(with changed: GatewayConfiguration? = nil) throws {
    process.signal(SIGTERM)
    _ = try process.waitForExit()
    try process.waitForEndOfOutput()
    try startAgain(with: changed)
  }

  /// Kills the process in the middle of whatever it does, and starts another one on the same folder.
  func killAndRestart() throws {
    process.stop()
    try startAgain(with: nil)
  }

  func stop() { process.stop() }

  /// Everything that this gateway has written, from its first start on.
  var log: [UInt8] { earlierOutput + process.everythingWritten }

  private func startAgain(with changed: GatewayConfiguration?) throws {
    earlierOutput += process.everythingWritten
    if let changed { _ = try changed.install(in: directory) }
    process = try Self.launch(file, directory, environment)
    try waitUntilReady()
  }

  private func waitUntilReady() throws {
    try process.waitUntilReady("GET /readyz answers 200") { try admin.get("/readyz").status == 200 }
  }

  private static func launch(
    _ file: String, _ directory: TemporaryDirectory, _ environment: [String: String]
  ) throws -> ServerProcess {
    try ServerProcess(
      Machine.binary("cordon"), ["run", "--config", file], environment: environment,
      directory: directory.path)
  }
}
