import TemporaryDirectoryTesting
import Testing

/// A folder with a configuration of oauth2-proxy, and what `cordon import` makes of it.
@SystemActor
struct ImportFolder {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Runs `cordon import` in the folder.
  func run(
    _ arguments: [String]
  ) throws -> (exit: ServerProcess.Exit, standardOutput: String, standardError: String) {
    try ServerProcess.run(Machine.binary("cordon"), ["import"] + arguments, directory: directory.path)
  }

  /// Translates an oauth2-proxy.cfg.
  func translate(_ text: String) throws -> (exit: ServerProcess.Exit, configuration: String, notes: String) {
    try directory.write(text, to: "oauth2-proxy.cfg")
    let result = try run(["oauth2-proxy.cfg"])
    return (result.exit, result.standardOutput, result.standardError)
  }

  /// Expects that `cordon check` accepts a configuration.
  func check(_ configuration: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try directory.write(configuration, to: "gateway.conf")
    try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey_ABC123DEFG.p8")
    try directory.write(GatewayConfiguration.sessionSecret, to: "session.key")
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", "gateway.conf"], directory: directory.path)
    #expect(
      check.exit == .code(0), "\(check.standardOutput)\(check.standardError)\n\(configuration)",
      sourceLocation: sourceLocation)
  }
}
