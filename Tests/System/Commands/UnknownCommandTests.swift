import Testing

// A first argument that is no command is answered with the command that was probably meant.

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
    let refused = try ServerProcess.run(Machine.binary("cordon"), [word, "--quiet"], directory: "/")
    #expect(refused.exit == .code(64), "\(refused)")
    #expect(refused.standardOutput.isEmpty, "\(refused)")
    #expect(refused.standardError.contains(answer), "\(refused)")
    #expect(refused.standardError.contains("cordon --help"), "\(refused)")
  }

  @Test("The help of a command is not taken for an unknown one")
  func help() throws {
    let shown = try ServerProcess.run(Machine.binary("cordon"), ["help", "check"], directory: "/")
    #expect(shown.exit == .code(0) && shown.standardOutput.contains("Checks a configuration file."), "\(shown)")
  }
}
