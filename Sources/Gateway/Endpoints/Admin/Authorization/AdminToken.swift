internal import Secrets
internal import WebFormats

/// The kind of an ``AdminToken``; never a value.
enum AdminTokenKind {}

/// The bearer token of `admin.token_file`: visible ASCII, as `Authorization: Bearer` carries it.
typealias AdminToken = Secret<AdminTokenKind>

extension AdminToken {
  /// The shortest token, in bytes, after one trailing newline was dropped.
  static var minimumLength: Int { 32 }
  /// The longest token, in bytes.
  static var maximumLength: Int { 4_096 }

  /// Reads the token from a private file (`PrivateFile`): one trailing newline is dropped.
  init(contentsOfFile path: String) throws(AdminTokenError) {
    var bytes: [UInt8]
    do throws(PrivateFileError) {
      bytes = try PrivateFile.read(path, limit: 65_536)
    } catch {
      throw AdminTokenError(path: path, problem: error.problem, remedy: error.remedy(quoting: ShellWord.quoting))
    }
    if bytes.last == 0x0A { bytes.removeLast() }
    guard (Self.minimumLength...Self.maximumLength).contains(bytes.count) else {
      throw AdminTokenError(
        path: path,
        problem: "holds \(bytes.count) bytes, and a token has \(Self.minimumLength) to \(Self.maximumLength)")
    }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw AdminTokenError(path: path, problem: "holds what no header can carry: a token is visible ASCII")
    }
    self.init(bytes)
  }
}

/// A reason why the file of the token cannot be used. The operator has to correct it.
package struct AdminTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  let path: String
  let problem: String
  /// Nil: a new token has to be made.
  var remedy: String? = nil

  package var description: String {
    let remedy = remedy ?? "make one with `cordon keygen --output FILE`, and let the user that runs this read it"
    return "admin.token_file: \(path) \(problem); \(remedy)"
  }
}
