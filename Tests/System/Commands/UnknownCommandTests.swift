import Testing

// A word in the place of a command that is none is answered with the command that was probably meant.

@SystemActor
@Suite("Unknown commands")
struct UnknownCommandTests {
  @Test(
    "A command that does not exist is answered with the one that was probably meant",
    arguments: [
      ("chekc", "There is no command chekc; did you mean cordon check?"),
      ("migrate", "There is no command migrate; did you mean cordon accounts migrate?"),
      ("revoke", "did you mean cordon invitations revoke or cordon tokens revoke?"),
      ("frobnicate", "There is no command frobnicate."),
    ])
  func unknown(word: String, answer: String) throws {
    for arguments in [[word, "--quiet"], ["help", word]] { try refuses(arguments, answer) }
  }

  @Test(
    "A command that does not exist after one that has commands is answered with those that it has",
    arguments: [
      ("accounts", "lsit", "There is no command accounts lsit; did you mean cordon accounts list?"),
      ("groups", "ban", "There is no command groups ban; after cordon groups write list, add or remove."),
      ("sessions", "list", "There is no command sessions list; after cordon sessions write end."),
    ])
  func unknownBelow(command: String, word: String, answer: String) throws {
    for arguments in [[command, word, "--json"], ["help", command, word]] { try refuses(arguments, answer) }
  }

  private func refuses(_ arguments: [String], _ answer: String) throws {
    let refused = try ServerProcess.run(Machine.binary("cordon"), arguments, directory: "/")
    #expect(refused.exit == .code(64), "\(refused)")
    #expect(refused.standardOutput.isEmpty, "\(refused)")
    #expect(refused.standardError.contains(answer), "\(refused)")
    #expect(refused.standardError.contains("cordon --help"), "\(refused)")
  }

  @Test(
    "The help of a command is not taken for an unknown one",
    arguments: [
      (["help"], "Sign in with Apple in front of a web application."),
      (["help", "check"], "Checks a configuration file."), (["help", "accounts"], "Lists, finds, bans"),
      (["help", "accounts", "ban"], "Bans a user"), (["accounts", "--help"], "Lists, finds, bans"),
      (["accounts"], "Lists, finds, bans"), (["check", "--help", "file"], "Checks a configuration file."),
    ])
  func help(arguments: [String], text: String) throws {
    let shown = try ServerProcess.run(Machine.binary("cordon"), arguments, directory: "/")
    #expect(shown.exit == .code(0) && shown.standardOutput.contains(text), "\(shown)")
  }
}
