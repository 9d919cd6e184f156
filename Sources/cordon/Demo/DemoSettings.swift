import FoundationEssentials
import Glibc
import Sessions

/// Settings that connect the parts of a demo.
struct DemoSettings {
  let port: Int
  let simulatorPort: Int
  let appPort: Int
  let adminPort: Int
  let folder: String

  /// `localhost`, while the simulator is `127.0.0.1`: two sites, as they are in production.
  private var publicURL: String { "http://localhost:\(port)" }

  var configurationFile: String { "\(folder)/gateway.conf" }

  var simulatorArguments: [String] {
    [
      "--port", String(simulatorPort), "--write-key", "\(folder)/\(LocalApple.keyFile)",
      "--redirect-uri", "\(publicURL)/.auth/callback",
    ]
  }

  /// Writes the configuration and the session key. The folder is nobody else's, so are the files.
  func write() throws {
    try Data(SessionSecret.newFileContent()).write(to: URL(fileURLWithPath: "\(folder)/session.key"))
    chmod("\(folder)/session.key", 0o600)
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: configurationFile))
  }

  private var configuration: String {
    """
    # Made by `cordon demo`.
    public_url = "\(publicURL)"

    [listen]
    address = "127.0.0.1:\(port)"

    [admin]
    address = "127.0.0.1:\(adminPort)"

    [upstream]
    url = "http://127.0.0.1:\(appPort)"

    [apple]
    client_id = "\(LocalApple.clientID)"
    team_id = "\(LocalApple.teamID)"
    key_id = "\(LocalApple.keyID)"
    private_key_file = "\(LocalApple.keyFile)"
    base_url = "http://127.0.0.1:\(simulatorPort)"

    [session]
    secret_files = ["session.key"]

    [store]
    url = "sqlite:\(folder)/cordon.db"

    [identity.headers]
    X-Forwarded-User = "sub"
    X-Forwarded-Email = "email"
    X-Forwarded-Name = "name"

    [[route]]
    path = "/public/"
    access = "public"

    """
  }

  /// The text for the user.
  var welcome: String {
    """

      Open  \(publicURL)

      A time sheet without sign-in of its own: the gateway in front signs users in.

      The application itself    http://127.0.0.1:\(appPort)
      The simulated Apple       http://127.0.0.1:\(simulatorPort)
      The gateway's status      http://127.0.0.1:\(adminPort)/status
      Configuration and logs    \(folder)

      Ctrl-C stops everything.


    """
  }
}
