internal import AccessPolicy
internal import AppleIdentity
internal import IdentityAssertion

extension AssertionSigner {
  /// Reads the keys that the settings name; nil where they name none.
  /// - Throws: ``AssertionKeyFileProblem`` if one cannot be used, or every user of this machine may read it.
  init?(_ settings: GatewaySettings) throws {
    var keys: [AssertionKey] = []
    for file in settings.assertion.keyFiles {
      switch KeyFile.read(file, maximumBytes: 65_536) {
      case .contents(let contents):
        do throws(AssertionKeyProblem) {
          keys.append(try AssertionKey(pem: contents, name: file))
        } catch {
          throw AssertionKeyFileProblem(message: error.message, remedy: error.remedy)
        }
      case .readableByEverybody:
        throw AssertionKeyFileProblem(
          message: "\(file) can be read by every user of this machine", remedy: "chmod o= the file")
      case .tooLong:
        throw AssertionKeyFileProblem(message: "\(file) has more than 64 KiB", remedy: "name the right file")
      case .unreadable(let reason):
        throw AssertionKeyFileProblem(
          message: "\(file) cannot be read: \(reason)",
          remedy: "check the path, and that the user Cordon runs as may read the file")
      }
    }
    guard let set = AssertionKeySet(keys) else { return nil }
    self.init(keys: set, issuer: settings.origin.description, audience: settings.assertion.audience)
  }
}

/// A file of `assertion.key_files` cannot be used. The operator's to mend.
struct AssertionKeyFileProblem: Error, CustomStringConvertible {
  let message: String
  let remedy: String

  var description: String { "assertion.key_files: \(message); \(remedy)" }
}
