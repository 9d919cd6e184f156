import Foundation
import TemporaryDirectoryTesting

/// The real gateway, running from a `gateway.conf` in a folder of its own.
@SystemActor
final class GatewayProcess {
  let configuration: GatewayConfiguration
  let directory: TemporaryDirectory
  let file: String
  private let environment: [String: String]
  private let wrapper: ProcessWrapper?
  private(set) var process: ServerProcess
  /// The output of earlier processes of this gateway, for searches in the whole log.
  private var earlierOutput: [UInt8] = []

  /// Starts a gateway and waits until it is ready.
  /// - Parameter wrapper: changes what the process has or sees of the machine.
  init(
    _ configuration: GatewayConfiguration, clock: FakeClock? = nil, environment: [String: String] = [:],
    wrapper: ProcessWrapper? = nil
  ) throws {
    self.configuration = configuration
    let environment = environment.merging(clock?.environment ?? [:]) { $1 }
    self.environment = environment
    self.wrapper = wrapper
    directory = try TemporaryDirectory()
    file = try configuration.install(in: directory)
    process = try Self.launch(file, directory, environment, wrapper)
    try waitUntilReady()
  }

  /// A gateway before `upstream` that lets everybody in, without an Apple to ask: for what has nothing to do with who
  /// is asking.
  static func open(
    to upstream: RawUpstream, wrapper: ProcessWrapper? = nil, adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> GatewayProcess {
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration.ending = GatewayConfiguration.everythingPublic
    adjust(&configuration)
    return try GatewayProcess(configuration, wrapper: wrapper)
  }

  /// Memory that the process has written to and that is in use, in KiB. Pages of files come and go besides.
  var writtenKiB: Int {
    get throws { try Self.writtenKiB(of: process.pid) }
  }

  nonisolated static func writtenKiB(of pid: pid_t) throws -> Int {
    try memoryKiB("RssAnon", of: pid) + memoryKiB("RssShmem", of: pid)
  }

  /// Memory that is mapped of files, such as the program, in KiB.
  var fileKiB: Int {
    get throws { try Self.memoryKiB("RssFile", of: process.pid) }
  }

  /// - Parameter name: as in proc(5), `/proc/PID/status`.
  private nonisolated static func memoryKiB(_ name: String, of pid: pid_t) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
    guard let words = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }), words.count > 1,
      let number = Int(words[1])
    else { throw HarnessError.missing("\(name) of \(pid)") }
    return number
  }

  /// Runs an attack, and then sees that the same process serves the next honest request.
  func surviving<Result>(_ attack: () throws -> Result) throws -> Result {
    let pid = process.pid
    let result = try attack()
    let response = try client.get("/honest")
    guard process.isRunning, process.pid == pid, response.status == 200 else {
      throw HarnessError.exited("after an attack the gateway answers \(response.status)")
    }
    return result
  }

  /// For requests as `localhost`, the gateway's public name.
  var client: HTTPClient { HTTPClient(port: configuration.port, host: GatewayConfiguration.host) }

  /// For the admin listener.
  var admin: HTTPClient { HTTPClient(port: configuration.adminPort) }

  var origin: String { "http://\(GatewayConfiguration.host):\(configuration.port)" }

  /// A raw connection to the public listener.
  func connect() throws -> TCPConnection { try TCPConnection(port: configuration.port) }

  /// Starts another process in addition to this one, on the same port, and waits until it is ready. The admin listener
  /// is each process's own. The caller stops it.
  func startSuccessor() throws -> ServerProcess {
    let adminPort = try FreePort.take()
    var configuration = configuration
    configuration["admin", "address"] = "\"127.0.0.1:\(adminPort)\""
    _ = try configuration.install(in: directory)
    let next = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    try next.waitUntilReady("the new process is ready") {
      try HTTPClient(port: adminPort).get("/readyz").status == 200
    }
    return next
  }

  /// Ends the process in an orderly way, and starts another one on the same folder, perhaps with another configuration
  /// (of the same ports).
  /// - Parameter path: what answers 200 on the admin listener when it has started.
  func restart(with changed: GatewayConfiguration? = nil, until path: String = "/readyz") throws {
    process.signal(SIGTERM)
    _ = try process.waitForExit()
    try process.waitForEndOfOutput()
    try startAgain(with: changed, until: path)
  }

  /// Kills the process in the middle of whatever it does, and starts another one on the same folder.
  func killAndRestart() throws {
    process.stop()
    try startAgain(with: nil)
  }

  func stop() { process.stop() }

  /// Everything that this gateway has written, from its first start on.
  var log: [UInt8] { earlierOutput + process.everythingWritten }

  /// Waits until the log holds this text so many times: lines are written after the answers that they tell of.
  func waitForLog(_ text: String, count: Int = 1) throws {
    try poll("\(text) in the log") {
      String(decoding: log, as: UTF8.self).components(separatedBy: text).count > count ? () : nil
    }
  }

  /// Waits until a line of the log holds all of these texts.
  func waitForLogLine(_ texts: String...) throws {
    try poll("a line with \(texts) in the log") {
      let lines = String(decoding: log, as: UTF8.self).split(separator: "\n")
      return lines.contains { line in texts.allSatisfy { line.contains($0) } } ? () : nil
    }
  }

  private func startAgain(with changed: GatewayConfiguration?, until path: String = "/readyz") throws {
    earlierOutput += process.everythingWritten
    if let changed { _ = try changed.install(in: directory) }
    process = try Self.launch(file, directory, environment, wrapper)
    try waitUntilReady(path)
  }

  private func waitUntilReady(_ path: String = "/readyz") throws {
    try process.waitUntilReady("GET \(path) answers 200") { try admin.get(path).status == 200 }
  }

  private static func launch(
    _ file: String, _ directory: TemporaryDirectory, _ environment: [String: String], _ wrapper: ProcessWrapper?
  ) throws -> ServerProcess {
    let command = (wrapper?.command ?? []) + [try Machine.binary("cordon"), "run", "--config", file]
    return try ServerProcess(
      command[0], Array(command.dropFirst()), environment: environment, directory: directory.path)
  }
}
