import ConfigurationFile

/// The client that `apple-simulator` registers unless its options say otherwise.
enum LocalApple {
  static let clientID = "com.example.web"
  static let teamID = "DEF123GHIJ"
  static let keyID = "ABC123DEFG"
  static let keyFile = "AuthKey_ABC123DEFG.p8"
  /// The simulator's default address.
  static let origin = "http://127.0.0.1:8090"
  /// Another site than the simulator's, as it is with Apple.
  static let publicURL = "http://localhost:8080"
  static let listen = "127.0.0.1:8080"

  /// The command that starts the simulator for a configuration.
  static func command(_ configuration: Configuration, _ folder: ConfigurationFolder) -> String {
    "apple-simulator --private-key-file \(folder.path)/\(keyFile) --redirect-uri \(configuration.redirectURI)"
  }
}
