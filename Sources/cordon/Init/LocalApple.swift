import AccessPolicy
import ConfigurationFile
import WebFormats

/// The client that `apple-simulator` registers unless its options say otherwise.
enum LocalApple {
  static let clientID = "com.example.web"
  static let teamID = "DEF123GHIJ"
  static let keyID = "ABC123DEFG"
  static let keyFile = "AuthKey_ABC123DEFG.p8"
  /// The simulator's default address.
  static let origin = "http://127.0.0.1:8090"
  /// Another site than the simulator's, as it is with Apple.
  private static let publicURL = "http://localhost:8080"
  private static let listen = "127.0.0.1:8080"

  /// The public origin of a listener on this machine.
  /// - Parameter listen: its address as it was given. Nil, or none with a port: the default one.
  static func publicURL(of listen: String?) -> String {
    guard let port = listen.flatMap({ Authority(parsing: $0.utf8) })?.port else { return publicURL }
    return "http://localhost:\(port)"
  }

  /// The address at which browsers of this machine find a public origin.
  /// - Parameter publicURL: the origin as it was given. Nil, or none of this machine: the default one.
  static func listen(at publicURL: String?) -> String {
    guard let origin = publicURL.flatMap({ try? PublicOrigin(parsing: $0) }), origin.isLoopback else { return listen }
    return "127.0.0.1:\(origin.port)"
  }

  /// The command that starts the simulator for a configuration.
  static func command(_ configuration: Configuration, _ folder: ConfigurationFolder) -> String {
    let key = ShellWord.quoting("\(folder.path)/\(keyFile)")
    return "apple-simulator --private-key-file \(key) --redirect-uri \(configuration.redirectURI)"
  }
}
