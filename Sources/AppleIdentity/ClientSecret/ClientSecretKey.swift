internal import Cryptography
package import Secrets
internal import WebFormats

/// The private key from Apple, `AuthKey_….p8`: PKCS #8, P-256. It signs client secrets.
///
/// A value cannot be printed, and the key cannot be read back from it.
package struct ClientSecretKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  let privateKey: ES256PrivateKey

  /// Reads the key file.
  ///
  /// A file that others have access to is refused (`PrivateFile`): its readers could act as us at Apple.
  /// - Parameter path: absolute path of the `.p8` file.
  package init(contentsOfFile path: String) throws(ClientSecretKeyError) {
    let shown = LogText.sanitized(path, maximumBytes: 1024)
    var bytes: [UInt8]
    do throws(PrivateFileError) {
      bytes = try PrivateFile.read(path, limit: Self.maximumBytes)
    } catch {
      throw .file(PrivateFileError(path: shown, reason: error.reason))
    }
    defer { bytes.erase() }
    try self.init(pem: bytes, name: shown)
  }

  /// Reads the key from the text of a `.p8` file.
  /// - Parameter name: what error messages call the file.
  package init(pem: some Collection<UInt8>, name: String = "the key") throws(ClientSecretKeyError) {
    guard let text = String(validating: pem, as: UTF8.self), text.utf8.count <= Self.maximumBytes else {
      throw .notAKey(name)
    }
    guard let label = Self.pemLabel(of: text) else { throw .notAKey(name) }
    switch label {
    case "PRIVATE KEY": break
    case "ENCRYPTED PRIVATE KEY": throw .encrypted(name)
    case "CERTIFICATE", "PUBLIC KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY": throw .otherKind(name, label: label)
    default: throw .notAKey(name)
    }
    guard let key = ES256PrivateKey(pem: pem) else {
      if Self.hasEscapedLineBreaks(text) { throw .escapedLineBreaks(name) }
      throw .notP256(name)
    }
    privateKey = key
  }

  /// Whether both are one key, of whatever file.
  func isSame(as other: ClientSecretKey) -> Bool { privateKey.publicKey.pem == other.privateKey.publicKey.pem }

  package var description: String { "[secret]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }

  /// A `.p8` file has about 260 bytes.
  private static let maximumBytes = 16 * 1024

  /// The text between `-----BEGIN ` and `-----` (RFC 7468, 2).
  private static func pemLabel(of text: String) -> String? {
    let bytes = Array(text.utf8)
    let begin = Array("-----BEGIN ".utf8)
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: begin) }) else { return nil }
    let label = bytes[(start + begin.count)...].prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "\n") }
    return String(decoding: label, as: UTF8.self)
  }

  /// Whether a backslash and an `n` are in the text, as in the JSON or the environment variables of other programs.
  private static func hasEscapedLineBreaks(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.indices.dropLast().contains { bytes[$0] == UInt8(ascii: "\\") && bytes[$0 + 1] == UInt8(ascii: "n") }
  }
}

/// The reason why a key file cannot be used. An operator error.
package enum ClientSecretKeyError: Error, Sendable, Equatable {
  /// The file cannot be read, or is not private.
  case file(PrivateFileError)
  /// The file holds no PEM of a key.
  case notAKey(String)
  /// The key asks for a passphrase.
  case encrypted(String)
  /// The file holds something else, a certificate say.
  case otherKind(String, label: String)
  /// A key of another curve, or of another algorithm.
  case notP256(String)
  /// The line breaks of the PEM are written as `\n`.
  case escapedLineBreaks(String)

  /// The problem.
  package var message: String {
    switch self {
    case .file(let error): "\(error.path) \(error.problem)"
    case .notAKey(let name): "\(name) is not a private key in PEM form"
    case .encrypted(let name): "\(name) is encrypted"
    case .otherKind(let name, let label): "\(name) holds \"\(label)\", not the private key that Apple gave out"
    case .notP256(let name): "\(name) is damaged, or is not a P-256 key"
    case .escapedLineBreaks(let name): "\(name) has \\n instead of line breaks"
    }
  }

  /// The remedy.
  package var remedy: String {
    switch self {
    case .file(let error): error.remedy(quoting: ShellWord.quoting)
    case .notAKey, .otherKind, .notP256:
      "use the AuthKey_….p8 file from Certificates, Identifiers & Profiles > Keys, as it was downloaded"
    case .escapedLineBreaks:
      "write a line break for each \\n (sed 's/\\\\n/\\n/g' FILE), and remove quotation marks around the key"
    case .encrypted: "decrypt it: openssl pkcs8 -topk8 -nocrypt -in FILE -out FILE.p8"
    }
  }
}
