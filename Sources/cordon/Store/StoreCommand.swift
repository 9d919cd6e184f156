import ArgumentParser
import ConfigurationFile
import Gateway
import Sessions

/// `cordon store`: work on the store itself.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Maintains the session store.", subcommands: [Copy.self, Reseal.self])

  /// `cordon store reseal`: every refresh token to the first secret.
  struct Reseal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reseal",
      abstract: "Re-encrypts every refresh token with the first secret of session.secret_files.",
      discussion: """
        Use it when you rotate the secret: afterwards no token depends on an older one. It can run while the gateway \
        runs, and can be repeated after an interruption. Run it as the gateway's user: both must be able to write the \
        files of an SQLite store.

        --forget-unreadable deletes tokens that cannot be decrypted. If their secret is lost, every session ends; if a \
        token is damaged, the sessions of its user do. Accounts and names are kept; those users have to sign in again.

        Exit status: 0 if all tokens are re-encrypted, 1 if not, 78 if the configuration is invalid.
        """)

    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
    var config = ConfigurationFile.defaultPath

    @Flag(help: "Delete the tokens that no secret decrypts, and end every session. Accounts and names are kept.")
    var forgetUnreadable = false

    func run() async throws {
      let configuration = try Configuration.loaded(from: config)
      do {
        try await reseal(configuration)
      } catch {
        printError("cordon store reseal: \(error)")
        throw ExitCode.failure
      }
    }

    private func reseal(_ configuration: Configuration) async throws {
      let keyring = try SessionKeyring(files: configuration.session.secretFiles)
      guard case .open(let store) = try await configuration.store.openIfPresent() else {
        print("There is no store yet: nothing to reseal.")
        return
      }
      let keys = try await store.sealingKeys()
      let total = keys.filter { $0.key != keyring.currentKey }.values.reduce(0, +)
      let unreadable = keys.filter { !keyring.knows($0.key) }.values.reduce(0, +)
      var progress = ProgressReport()
      defer { progress.finishPart() }
      // The sessions first: repeated after an interruption, the command finds the tokens, and so the other sessions.
      if forgetUnreadable, unreadable > 0 { try await endEverySession(in: store, tokens: unreadable, &progress) }
      let done = try await TokenReencryption.run(
        store: store, keyring: keyring, unreadable: forgetUnreadable ? .forget : .stop
      ) {
        progress.note("refresh tokens", $0.moved + $0.forgotten, of: total)
      }
      progress.finishPart()
      try await store.close()
      if done.forgotten > 0 {
        print("\(Self.tokens(done.forgotten)) deleted. Accounts and names are kept.")
      }
      print(
        done.moved == 0
          ? "Every \(done.forgotten > 0 ? "other " : "")refresh token is sealed by key \(keyring.currentKey) already."
          : "\(Self.tokens(done.moved)) now sealed by key \(keyring.currentKey).")
    }

    private func endEverySession(
      in store: any SessionStore, tokens: Int, _ progress: inout ProgressReport
    ) async throws {
      print("\(Self.tokens(tokens)) sealed by a secret that is not there: deleting them, and ending every session.")
      let accounts = try await store.counts().accounts
      let ended = try await TokenReencryption.endEverySession(in: store) { progress.note("accounts", $0, of: accounts) }
      progress.finishPart()
      print("\(counted(ended, "session")) ended.")
    }

    private static func tokens(_ count: Int) -> String {
      "\(counted(count, "refresh token")) \(count == 1 ? "is" : "are")"
    }
  }
}
