import Foundation
import Glibc
import TemporaryDirectoryTesting
import Testing

// Standard output of commands that cannot be written.
//
// - On a full disk no command ends with exit status 0, and standard error has the reason and the remedy.
// - Whoever creates a token or an invitation learns that it exists although it was not shown.
// - A reader that goes away ends a command silently.
// - An error message waits for a slow reader of standard error.

@SystemActor
@Suite("Output of commands")
struct CommandOutputTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Runs `cordon` in a shell.
  private func run(
    _ script: String
  ) throws -> (exit: ServerProcess.Exit, standardOutput: String, standardError: String) {
    let cordon = "cordon() { '\(try Machine.binary("cordon"))' \"$@\"; }"
    return try ServerProcess.run(
      "/bin/bash", ["-c", "set -o pipefail; \(cordon); \(script)"], directory: directory.path)
  }

  @Test(
    "A full disk is an error of every command that prints",
    arguments: [
      "import --args '--email-domain=example.com'", "keygen", "keygen --assertion", "reference", "reference --sample",
      "check FILE", "check FILE --explain", "--help", "--version", "--generate-completion-script bash", "help import",
    ])
  func fullDisk(command: String) throws {
    let file = try GatewayConfiguration().install(in: directory)
    let command = "cordon \(command.replacing("FILE", with: "'\(file)'"))"
    #expect(try run(command).exit == .code(0))
    let failed = try run("\(command) > /dev/full")
    #expect(failed.exit == .code(74), "\(failed)")
    #expect(failed.standardError.contains("standard output: No space left on device; "), "\(failed)")
    let closed = try run("\(command) >&-")
    #expect(closed.exit == .code(74), "\(closed)")
    // Not the error of another descriptor of the process, which has got its number.
    #expect(closed.standardError.contains("standard output: Bad file descriptor; "), "\(closed)")
  }

  @Test("An invalid configuration keeps its exit status on a full disk")
  func invalidConfiguration() throws {
    try directory.write("nonsense = 1\n", to: "gateway.conf")
    let failed = try run("cordon check gateway.conf > /dev/full")
    #expect(failed.exit == .code(78), "\(failed)")
    #expect(failed.standardError.contains("No space left on device"), "\(failed)")
  }

  @Test("A file that cannot be created is told with what to do")
  func unwritable() throws {
    try directory.write("", to: "file")
    for (path, remedy) in [("file/key", "a part of the path is a file"), ("/sys/key", "choose a")] {
      let failed = try run("cordon keygen --output \(path)")
      #expect(failed.exit == .code(73) && failed.standardError.contains(remedy), "\(failed)")
    }
  }

  @Test("A reader that goes away ends a command without a message")
  func closedPipe() throws {
    for command in ["reference", "--help", "keygen", "check missing.conf"] {
      let ended = try run("{ sleep 0.3; cordon \(command); echo \"status $?\" >&2; } | true")
      #expect(ended.standardError == "status 141\n", "\(command) \(ended)")
    }
  }

  @Test("An error message that a full, non-blocking standard error does not take at once is not lost")
  func fullStandardError() throws {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
    let reader = FileHandle(fileDescriptor: pair[0], closeOnDealloc: true)
    let block = [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)
    try #require(fcntl(pair[1], F_SETFL, O_NONBLOCK) == 0)
    while write(pair[1], block, block.count) > 0 {}
    let process = try ServerProcess(
      "/bin/sh", ["-c", "exec '\(try Machine.binary("cordon"))' keygen --output missing/key 2>&3 3>&-"],
      directory: directory.path, inherited: [pair[1]])
    defer { process.stop() }
    close(pair[1])
    // A command that does not wait has ended by then.
    for _ in 0..<200 where process.isRunning { usleep(10_000) }
    let text = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
    let message = text.drop { $0 == "x" }
    #expect(message == "cordon keygen: missing/key: its folder is missing; create it, or choose another name\n")
    #expect(try process.waitForExit() == .code(73))
  }

  @Test("Commands that ask a gateway report a full disk, with the name of the token that was not shown")
  func gateway() throws {
    let site = try Site(adjust: {
      $0["admin", "token_file"] = "\"admin.token\""
      $0.ending = "[[group]]\nname = \"robots\"\n"
    })
    defer { site.stop() }
    _ = try site.signedIn()
    let config = "--config '\(site.gateway.file)'"
    for command in [
      "accounts list", "accounts list --json", "tokens list", "groups list", "ready",
      "accounts migrate --to NEWTEAM123 --json",
    ] {
      let failed = try run("cordon \(command) \(config) > /dev/full")
      #expect(failed.exit == .code(74), "\(command) \(failed)")
      #expect(failed.standardError.contains("No space left on device"), "\(command) \(failed)")
    }
    for (number, option) in ["", "--json"].enumerated() {
      let token = try run("cordon tokens create --name robot-\(number) --group robots \(option) \(config) > /dev/full")
      #expect(token.exit == .code(74), "\(token)")
      #expect(
        token.standardError.contains(
          "the token robot-\(number) exists, but was not shown: revoke it with cordon tokens revoke robot-\(number)"),
        "\(token.standardError)")
      #expect(!token.standardError.contains("It is not shown again"), "\(token.standardError)")
      #expect(try run("cordon tokens revoke robot-\(number) \(config)").exit == .code(0))
      let invitation = try run("cordon invitations create --group robots \(option) \(config) > /dev/full")
      #expect(invitation.exit == .code(74), "\(invitation)")
      #expect(invitation.standardError.contains("cordon invitations revoke "), "\(invitation.standardError)")
    }
    // A reader that has gone away does not take the token with it silently.
    let piped = try run("{ sleep 0.3; cordon tokens create --name piped --group robots \(config); } | true")
    #expect(piped.exit == .code(74) && piped.standardError.contains("the token piped exists"), "\(piped)")
    let unseen = try run("cordon tokens create --name unseen --group robots \(config) >&-")
    #expect(unseen.exit == .code(74) && unseen.standardError.contains("the token unseen exists"), "\(unseen)")
  }
}
