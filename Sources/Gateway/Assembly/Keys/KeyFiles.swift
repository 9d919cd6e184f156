internal import AppleIdentity
internal import IdentityAssertion
internal import Sessions

/// The contents of the files of keys that the configuration names: session secrets, Apple's key, assertion keys, and
/// the authorities that verify Apple's server.
struct KeyFiles: Sendable {
  let keyring: SessionKeyring
  let clientSecretKey: ClientSecretKey
  let appleServer: AppleServer
  /// Nil if no assertions are signed.
  let signer: AssertionSigner?

  /// Reads the files; blocks.
  /// - Throws: the problem of a file, with the remedy.
  init(_ settings: GatewaySettings) throws {
    signer = try AssertionSigner(settings)
    var keyring = try SessionKeyring(files: settings.session.secretFiles)
    keyring.cookies = settings.session.cookies
    self.keyring = keyring
    appleServer = try AppleServer(settings.apple.baseURL, settings.apple, through: settings.appleProxy)
    clientSecretKey = try ClientSecretKey(contentsOfFile: settings.apple.privateKeyFile)
  }
}
