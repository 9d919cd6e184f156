import ArgumentParser
import IdentityAssertion
import Sessions

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `cordon keygen`: a secret for `session.secret_files` or `admin.token_file`, or a key for `assertion.key_files`.
struct KeygenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen",
    abstract: "Creates a random secret (48 bytes in base64url) or a key for signed assertions.")

  @Option(
    name: .long, help: ArgumentHelp("Write to a new file that only you can read.", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(name: .long, help: "Create a key for assertion.key_files: P-256, in PEM.")
  var assertion = false

  func run() throws {
    let content = assertion ? AssertionKey.newFileContent() : SessionSecret.newFileContent()
    guard let output else {
      print(String(decoding: content, as: UTF8.self), terminator: "")
      return
    }
    do throws(NewFileError) {
      try Self.create(output, content)
    } catch {
      var standardError = StandardError()
      print("cordon keygen: \(error.message)", to: &standardError)
      throw ExitCode(ExitStatus.cannotCreate)
    }
  }

  /// The reason why a file was not made.
  struct NewFileError: Error {
    let message: String
  }

  /// Writes a file that must not be there yet, with permission 0600 whatever the umask is. Nothing is left behind where
  /// writing fails.
  static func create(_ path: String, _ bytes: [UInt8]) throws(NewFileError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST
        ? "there is a file already, and a secret in use must not be lost; choose another name or remove it"
        : String(cString: strerror(errno))
      throw NewFileError(message: "\(path): \(reason)")
    }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        let reason = String(cString: strerror(errno))
        unlink(path)
        throw NewFileError(message: "\(path): \(reason)")
      }
    }
    guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else {
      let reason = String(cString: strerror(errno))
      unlink(path)
      throw NewFileError(message: "\(path): \(reason)")
    }
  }
}
