import ConfigurationFile

/// The question of `cordon init` for one key.
struct Question {
  /// The key of the configuration.
  let key: String
  /// The option that answers it.
  let option: String
  /// An explanation for new users.
  let explanation: String
  let prompt: String
  /// The value of an empty answer; nil if an answer is required.
  let fallback: String?

  static let publicURL = Question(
    key: "public_url", option: "--public-url",
    explanation: "The address that browsers open: https://, the name, and nothing after it.",
    prompt: "Public address", fallback: nil)

  static let upstream = Question(
    key: "upstream.url", option: "--upstream",
    explanation: """
      The application: http://, https:// or unix: and the path of its socket, as in
      unix:/run/app.sock. On the same machine a Unix socket costs less CPU time
      than TCP.
      """,
    prompt: "Application", fallback: "http://127.0.0.1:3000")

  static let listen = Question(
    key: "listen.address", option: "--listen",
    explanation: """
      Where the gateway listens: 127.0.0.1:8080 behind a proxy on this machine that
      terminates TLS, [::]:443 if browsers connect to it directly (IPv4 too).
      """,
    prompt: "Listen at", fallback: "127.0.0.1:8080")

  static let certificate = Question(
    key: "listen.tls_certificate_file", option: "--tls-certificate",
    explanation: "The certificate chain in PEM, if the gateway speaks TLS itself.",
    prompt: "Certificate", fallback: "")

  static let certificateKey = Question(
    key: "listen.tls_private_key_file", option: "--tls-key", explanation: "The key of that certificate, in PEM.",
    prompt: "Certificate's key", fallback: nil)

  static let clientID = Question(
    key: "apple.client_id", option: "--client-id",
    explanation: "From the developer account: the Services ID's identifier (com.example.web).",
    prompt: "Services ID", fallback: nil)

  static let teamID = Question(
    key: "apple.team_id", option: "--team-id",
    explanation: "The Team ID, ten letters and digits, at Membership details.", prompt: "Team ID", fallback: nil)

  static let keyFile = Question(
    key: "apple.private_key_file", option: "--key-file",
    explanation: "The key's file as you downloaded it, AuthKey_….p8; a copy is made if need be.",
    prompt: "Key file", fallback: nil)

  /// The identifier stands in the name that Apple gives to the file.
  static func keyID(in file: String) -> Question {
    Question(
      key: "apple.key_id", option: "--key-id", explanation: "The key's identifier, ten letters and digits.",
      prompt: "Key ID", fallback: AppleKeyFile.keyID(inNameOf: file))
  }

  static func store(in folder: ConfigurationFolder) -> Question {
    Question(
      key: "store.url", option: "--store",
      explanation: "Accounts and sessions: sqlite: and a file, or postgresql:// for several\ngateways.",
      prompt: "Store", fallback: folder.isSystemWide ? "sqlite:/var/lib/cordon/cordon.db" : "sqlite:cordon.db")
  }
}
