import ArgumentParser
import ConfigurationFile
import Gateway
import Sessions

/// Options of the commands that contact a running gateway.
struct RunningGatewayOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The running gateway's configuration file, for admin.address and admin.token_file.",
      valueName: "file"), completion: .file())
  var config = ConfigurationFile.defaultPath

  @Flag(name: .long, help: "Print JSON.")
  var json = false

  /// Asks the gateway, which may take as long as Apple does, and prints its answer.
  func perform<Answer>(
    _ command: String, acceptsInvalidFile: Bool = false, ask: (AdminClient) async throws -> Answer,
    tell: (Answer) throws -> Void
  ) async throws {
    try await perform(command, acceptsInvalidFile: acceptsInvalidFile) { client in
      try tell(try await waiting { try await ask(client) })
    }
  }

  /// Shows that the gateway is waited for.
  func waiting<Answer>(_ ask: () async throws -> Answer) async throws -> Answer {
    let line = StatusLine()
    line.show("Asking the gateway")
    defer { line.clear() }
    return try await ask()
  }

  /// Does something with the gateway. Errors are printed, and the exit status is 1, or that of an invalid file.
  /// - Parameter acceptsInvalidFile: for what ends access or only looks: it must not wait until a mistake in the file,
  ///   which the gateway has not read, is found. Then `[admin]` alone is used, and the problems are printed.
  func perform(
    _ command: String, acceptsInvalidFile: Bool = false, _ body: (AdminClient) async throws -> Void
  ) async throws {
    var failure = ExitCode.failure
    do {
      let gateway = try client(acceptsInvalidFile: acceptsInvalidFile)
      failure = gateway.failure
      try await body(gateway.client)
    } catch let code as ExitCode {
      throw code
    } catch {
      printError("cordon \(command): \(printable("\(error)"))")
      throw failure
    }
  }

  /// The gateway, and the exit status if it cannot be asked or refuses: that of an invalid file, if the file is one.
  /// - Throws: `ExitCode` after every problem of the file was printed, or the error of the token's file.
  private func client(acceptsInvalidFile: Bool) throws -> (client: AdminClient, failure: ExitCode) {
    let configuration: Configuration
    do throws(ConfigurationError) {
      // The gateway keeps the members that it has.
      configuration = try ConfigurationFile.load(config, checksMembersFiles: false)
    } catch {
      printError("\(error)")
      guard acceptsInvalidFile, let admin = ConfigurationFile.adminListener(config),
        let client = try? AdminClient(at: admin.address, admin.settings, isFileInvalid: true)
      else { throw error.exit }
      printError(
        "note: the file is invalid, and only [admin] of it is used; the gateway keeps the configuration that it has "
          + "read")
      return (client, error.exit)
    }
    let client = try AdminClient(
      at: configuration.adminAddress, configuration.admin,
      allowsUnverifiedEmail: configuration.identityHeaders.allowUnverifiedEmail)
    return (client, .failure)
  }
}

/// Notes on standard error that a text is taken as a subject, although it does not look like one of Apple's and no
/// account has it.
func noteUnlikely(_ user: String, _ client: AdminClient) async throws {
  guard MemberCheck.isUnlikelySubject(user), try await client.accounts(subject: user).accounts.isEmpty else { return }
  printError(
    "note: \"\(printable(user))\" does not look like a subject of Apple's, and no account has it; `cordon accounts "
      + "list` shows the subjects")
}
