internal import FoundationEssentials

/// The bearer token of `admin.token_file`. Its description prints nothing.
struct AdministrationToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// What `Authorization: Bearer` carries: visible ASCII.
  let revealed: [UInt8]

  /// In bytes, after one trailing newline was dropped.
  static let minimumLength = 32
  /// In bytes.
  static let maximumLength = 4_096

  /// Reads the token: one trailing newline is dropped.
  init(contentsOfFile path: String) throws(AdministrationTokenProblem) {
    guard let contents = FileManager.default.contents(atPath: path) else {
      throw AdministrationTokenProblem(path: path, reason: "cannot be read")
    }
    var bytes = Array(contents)
    if bytes.last == 0x0A { bytes.removeLast() }
    guard (Self.minimumLength...Self.maximumLength).contains(bytes.count) else {
      throw AdministrationTokenProblem(
        path: path, reason: "holds \(bytes.count) bytes, and a token has \(Self.minimumLength) to \(Self.maximumLength)"
      )
    }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw AdministrationTokenProblem(path: path, reason: "holds what no header can carry: a token is visible ASCII")
    }
    revealed = bytes
  }

  /// Compares without telling by its time how much was right.
  func matches(_ candidate: some Collection<UInt8>) -> Bool {
    guard candidate.count == revealed.count else { return false }
    return zip(revealed, candidate).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  var description: String { "AdministrationToken(secret)" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The file of the token cannot be used. The operator's to mend.
public struct AdministrationTokenProblem: Error, Sendable, Equatable, CustomStringConvertible {
  let path: String
  let reason: String

  public var description: String {
    "admin.token_file: \(path) \(reason); make one with `cordon keygen --output FILE`, and let the user that runs this "
      + "read it"
  }
}
