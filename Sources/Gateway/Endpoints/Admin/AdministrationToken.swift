internal import Secrets

/// The bearer token of `admin.token_file`. Its description prints nothing.
struct AdministrationToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The value of `Authorization: Bearer`: visible ASCII.
  let revealed: [UInt8]

  /// In bytes, after one trailing newline was dropped.
  static let minimumLength = 32
  /// In bytes.
  static let maximumLength = 4_096

  /// Reads the token from a private file (`PrivateFile`): one trailing newline is dropped.
  init(contentsOfFile path: String) throws(AdministrationTokenError) {
    var bytes: [UInt8]
    do throws(PrivateFileError) {
      bytes = try PrivateFile.read(path, limit: 65_536)
    } catch {
      throw AdministrationTokenError(path: path, reason: error.problem, remedy: error.remedy)
    }
    if bytes.last == 0x0A { bytes.removeLast() }
    guard (Self.minimumLength...Self.maximumLength).contains(bytes.count) else {
      throw AdministrationTokenError(
        path: path, reason: "holds \(bytes.count) bytes, and a token has \(Self.minimumLength) to \(Self.maximumLength)"
      )
    }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw AdministrationTokenError(path: path, reason: "holds what no header can carry: a token is visible ASCII")
    }
    revealed = bytes
  }

  /// Whether a `state` is that of this sign-in, compared in constant time.
  func matches(_ candidate: some Collection<UInt8>) -> Bool {
    ConstantTime.equal(revealed, candidate)
  }

  var description: String { "AdministrationToken(secret)" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The file of the token cannot be used, which the operator has to fix.
package struct AdministrationTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  let path: String
  let reason: String
  /// Nil: the token has to be made again.
  var remedy: String? = nil

  package var description: String {
    let remedy = remedy ?? "make one with `cordon keygen --output FILE`, and let the user that runs this read it"
    return "admin.token_file: \(path) \(reason); \(remedy)"
  }
}
