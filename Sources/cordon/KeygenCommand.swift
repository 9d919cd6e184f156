import ArgumentParser
import IdentityAssertion
import Sessions

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
      try NewFile.create(output, content)
    } catch {
      printError("cordon keygen: \(error.message)")
      throw ExitCode(ExitStatus.cannotCreate)
    }
  }
}
