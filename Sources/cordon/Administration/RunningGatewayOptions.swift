import ArgumentParser
import ConfigurationFile
import Gateway

/// What the commands share that speak to a running gateway.
struct RunningGatewayOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The configuration file of the running gateway: admin.address and admin.token_file are taken from it.",
      valueName: "file"))
  var config: String

  @Flag(name: .long, help: "Print JSON.")
  var json = false

  /// Does something with the gateway; what goes wrong is told, and the exit status is 1.
  func perform(_ command: String, _ body: (AdministrationClient) async throws -> Void) async throws {
    let configuration = try Configuration.loaded(from: config)
    do {
      try await body(try AdministrationClient(try GatewaySettings(configuration)))
    } catch let code as ExitCode {
      throw code
    } catch {
      complain("cordon \(command): \(printable("\(error)"))")
      throw ExitCode.failure
    }
  }
}
