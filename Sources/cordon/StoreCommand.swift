import ArgumentParser
import ConfigurationFile
import Gateway
import Sessions

/// `cordon store`: work on the store itself.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Works on the session store.", subcommands: [Copy.self, Reseal.self])

  /// `cordon store reseal`: every refresh token to the first secret.
  struct Reseal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reseal",
      abstract: "Seals every refresh token with the first secret of session.secret_files.",
      discussion: """
        For a change of the secret: when this is done, no token rests on an older one. May run while the gateway does, \
        and again after it was interrupted. Run it as the gateway's user: a store of SQLite has files beside it that \
        both must be able to write.

        Exit status: 0 when all are moved, 1 if not, 78 if the configuration is not in order.
        """)

    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
    var config: String

    func run() async throws {
      let configuration = try Configuration.loaded(from: config)
      do {
        try await reseal(configuration)
      } catch {
        complain("cordon store reseal: \(error)")
        throw ExitCode.failure
      }
    }

    private func reseal(_ configuration: Configuration) async throws {
      let keyring = try SessionKeyring(files: configuration.session.secretFiles)
      guard case .open(let store) = try await configuration.store.openIfPresent() else {
        print("There is no store yet: nothing to reseal.")
        return
      }
      let total = try await store.sealingKeys().filter { $0.key != keyring.firstKey }.values.reduce(0, +)
      var work = LongWork()
      defer { work.finishPart() }
      let moved = try await TokenResealing.run(store: store, keyring: keyring) {
        work.note("refresh tokens", $0, of: total)
      }
      work.finishPart()
      try await store.close()
      print(
        moved == 0
          ? "Every refresh token is sealed by key \(keyring.firstKey) already."
          : "\(LongWork.grouped(moved)) refresh token\(moved == 1 ? " is" : "s are") now sealed by key "
            + "\(keyring.firstKey).")
    }
  }
}
