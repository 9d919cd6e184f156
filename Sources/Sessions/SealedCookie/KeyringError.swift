internal import Secrets
internal import WebFormats

/// The reason why the session keys cannot be used. Always an operator error; the message ends with the remedy.
package struct KeyringError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of error.
  package enum Code: Sendable, Equatable {
    /// `session.secret_files` names no file.
    case noSecret
    /// A file could not be read, or is not private.
    case unreadable(path: String)
    /// A file could not be read for a reason that may pass while it stays as it is.
    case readFailed(path: String)
    /// Less than 32 bytes were left.
    case tooShort(path: String?, byteCount: Int)
    /// A secret of more than 64 KiB: probably the wrong file.
    case tooLong(path: String?)
    /// Refresh tokens in the store are encrypted with keys that are derived from no configured secret.
    case tokensWouldBeLost(count: Int, keys: [KeyIdentifier])
  }

  /// The problem of the secrets.
  package let code: Code
  /// The problem and its remedy.
  package let message: String

  package var description: String { message }

  /// Whether the same files may be accepted later.
  package var isTransient: Bool { if case .readFailed = code { true } else { false } }

  static let noSecret = KeyringError(
    code: .noSecret,
    message: "session.secret_files names no file; write a secret with `cordon keygen` and name its file there")

  static func file(_ error: PrivateFileError) -> KeyringError {
    let remedy =
      switch error.reason {
      case .exposed, .failed: error.remedy(quoting: ShellWord.quoting)
      default: "write one with `cordon keygen` and let the account that runs cordon read it"
      }
    return KeyringError(
      code: error.isTransient ? .readFailed(path: error.path) : .unreadable(path: error.path),
      message: "cannot use the session secret \(error.path): it \(error.problem); \(remedy)")
  }

  static func tooShort(path: String?, byteCount: Int) -> KeyringError {
    KeyringError(
      code: .tooShort(path: path, byteCount: byteCount),
      message: "the session secret\(path.map { " \($0)" } ?? "") has \(byteCount) bytes, at least "
        + "\(SessionKeyring.minimumSecretLength) are needed; write one with `cordon keygen`")
  }

  static func tooLong(path: String?) -> KeyringError {
    KeyringError(
      code: .tooLong(path: path),
      message: "the session secret\(path.map { " \($0)" } ?? "") has more than "
        + "\(SessionKeyring.maximumSecretLength) bytes, so it is hardly a secret; write one with `cordon keygen`")
  }

  static func tokensWouldBeLost(count: Int, keys: [KeyIdentifier]) -> KeyringError {
    let names = keys.map(\.description).sorted().joined(separator: ", ")
    return KeyringError(
      code: .tokensWouldBeLost(count: count, keys: keys),
      message: "\(count) refresh token\(count == 1 ? "" : "s") in the store \(count == 1 ? "is" : "are") sealed by "
        + "\(keys.count == 1 ? "a key" : "keys") (\(names)) that no file of session.secret_files gives; add the old "
        + "secret's file after the first one, run `cordon store reseal`, and remove it then; if that secret is lost, "
        + "`cordon store reseal --forget-unreadable` deletes those tokens and ends every session, but keeps accounts "
        + "and names")
  }
}
