import AppleSimulator
import ArgumentParser
import Foundation

/// Runs a local Apple until it is interrupted.
@main
struct SimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apple-simulator",
    abstract: "A local Apple for tests and demonstrations: Sign in with Apple without Apple.",
    discussion: """
      Registers one client, whose client secrets are checked with the key given by --public-key-file, --private-key-file \
      or --write-key. More clients, users and faults are ordered under /simulator/ while it runs. Prints one line with its \
      address when it is ready.
      """)

  static func main() async { await main(Array(SimulatorArguments.all.dropFirst())) }

  @Option(help: "The address to listen on. Anything but loopback lets others in.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on; 0 for any that is free.")
  var port = 8090

  @Option(help: "The Services ID.")
  var clientID = "com.example.web"

  @Option(help: "The App ID of a native app of the same team. May be repeated.")
  var nativeClientID: [String] = []

  @Option(help: "The ten-character Team ID.")
  var teamID = "DEF123GHIJ"

  @Option(help: "The ten-character key ID.")
  var keyID = "ABC123DEFG"

  @Option(help: ArgumentHelp("The public half of the key, in PEM.", valueName: "file"))
  var publicKeyFile: String?

  @Option(help: ArgumentHelp("The .p8 of the client, of which only the public half is used.", valueName: "file"))
  var privateKeyFile: String?

  @Option(help: ArgumentHelp("Makes a new .p8 here (mode 0600) and registers it.", valueName: "file"))
  var writeKey: String?

  @Option(help: "Where browsers may be sent back to. May be repeated.")
  var redirectURI: [String] = []

  @Option(help: ArgumentHelp("Where notifications about users are posted (http only).", valueName: "url"))
  var notificationURL: String?

  @Flag(help: "Refuse http://localhost and the like as redirect URIs, as Apple does.")
  var strictRedirects = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port is between 0 and 65535.") }
    guard [publicKeyFile, privateKeyFile, writeKey].compactMap({ $0 }).count <= 1 else {
      throw ValidationError("Give one of --public-key-file, --private-key-file and --write-key.")
    }
  }

  func run() async throws {
    let simulator = try AppleSimulator(configuration: try makeConfiguration())
    try await simulator.runUntilSignalled { address in
      // Unbuffered, because the parent process may be waiting for this line at the end of a pipe.
      FileHandle.standardOutput.write(Data("apple-simulator ready at \(address)\n".utf8))
    }
  }

  private func makeConfiguration() throws -> SimulatorConfiguration {
    var switches = SimulatorSwitches()
    switches.allowsLoopbackRedirects = !strictRedirects
    var configuration = SimulatorConfiguration(host: host, port: port, switches: switches)
    configuration.notificationURL = notificationURL
    guard
      let publicKey = try ClientKeyFile.publicKey(
        publicKeyFile: publicKeyFile, privateKeyFile: privateKeyFile, newKeyFile: writeKey)
    else { return configuration }
    configuration.clients = [
      SimulatedClient(clientID: clientID, teamID: teamID, keys: [keyID: publicKey], redirectURIs: redirectURI)
    ]
    for identifier in nativeClientID {
      configuration.clients.append(
        SimulatedClient(clientID: identifier, kind: .native, teamID: teamID, keys: [keyID: publicKey]))
    }
    return configuration
  }
}
