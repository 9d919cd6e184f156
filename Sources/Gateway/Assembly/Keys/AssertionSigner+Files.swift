internal import AccessPolicy
internal import IdentityAssertion
internal import Secrets
internal import WebFormats

extension AssertionSigner {
  /// Reads the keys that the settings name; nil without any.
  /// - Throws: ``AssertionKeyFileError`` if one cannot be used or is not private.
  init?(_ settings: GatewaySettings) throws {
    var keys: [AssertionKey] = []
    for file in settings.assertion.keyFiles {
      do {
        var pem = try PrivateFile.read(file, limit: 65_536)
        defer { pem.erase() }
        keys.append(try AssertionKey(pem: pem, name: file))
      } catch let error as PrivateFileError {
        throw AssertionKeyFileError(
          message: "\(file) \(error.problem)", remedy: error.remedy(quoting: ShellWord.quoting))
      } catch let error as AssertionKeyError {
        throw AssertionKeyFileError(message: error.message, remedy: error.remedy)
      }
    }
    guard let set = AssertionKeySet(keys) else { return nil }
    self.init(keys: set, issuer: settings.publicAddress.origin.description, audience: settings.assertion.audience)
  }
}

/// A file of `assertion.key_files` cannot be used. An operator error.
struct AssertionKeyFileError: Error, CustomStringConvertible {
  let message: String
  let remedy: String

  var description: String { "assertion.key_files: \(message); \(remedy)" }
}
