import ArgumentParser
import ConfigurationFile
import PostgreSQLSessions
import SQLiteSessions
import Sessions
import WebFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension StoreCommand {
  /// `cordon store copy`: from SQLite to PostgreSQL.
  struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "copy",
      abstract: "Copies an SQLite store to the PostgreSQL database of store.url.",
      discussion: """
        Copies everything unchanged: accounts, names, refresh tokens, sessions, bans, members of groups, requests for \
        access, invitations, machine tokens, replay guards and queued messages. Nobody is signed out. Stop the \
        gateways, set store.url to the database, copy, and start the gateways. The database must be empty; an \
        interrupted copy continues where it stopped. A database in which a gateway has made its tables already is \
        watched for 12 seconds, and refused if one is using it. The file is not changed. To rehearse it while the \
        gateway runs, copy a backup of the file (sqlite3 FILE ".backup BACKUP"), and empty the database again.

        Exit status: 0 if the copy is complete, 1 if not, 78 if the configuration is invalid.
        """)

    @Option(
      name: .long, help: ArgumentHelp("The configuration file; its store.url is the target.", valueName: "file"),
      completion: .file())
    var config = ConfigurationFile.defaultPath

    @Option(name: .long, help: ArgumentHelp("The SQLite file to copy.", valueName: "file"), completion: .file())
    var from: String

    func run() async throws {
      let configuration = try Configuration.loaded(from: config)
      guard case .postgreSQL(let url) = configuration.store.location else {
        printError(
          "cordon store copy: store.url of \(config) is not a postgresql:// address: set it to the target first")
        throw ExitCode.failure
      }
      do {
        try await copy(to: url)
      } catch {
        printError("cordon store copy: \(error)")
        throw ExitCode.failure
      }
    }

    private func copy(to url: String) async throws {
      let path = from.utf8.starts(with: "sqlite:".utf8) ? String(from.dropFirst(7)) : from
      guard access(path, F_OK) == 0 else {
        let problem = path.isEmpty ? "the name of the file is empty" : "there is no file \(path)"
        throw StoreError(code: .unavailable, message: "\(problem); name the SQLite store to copy")
      }
      // Kept while copying, so that a gateway that starts meanwhile says that it is not alone.
      let claim = StoreClaim()
      guard claim.take(path) else {
        throw StoreError(
          code: .unavailable,
          message: "a gateway is using \(path): what it writes would be missing in the copy. Stop it first; for a "
            + "rehearsal, copy a backup of the file (sqlite3 \(ShellWord.quoting(path)) \".backup BACKUP\")")
      }
      defer { withExtendedLifetime(claim) {} }
      let source = try SQLiteSessionStore(path: path, isWholeRead: true)
      let target = try await PostgreSQLSessionStore(url: url, connections: 2, notifies: false, isCopyTarget: true)
      var progress = ProgressReport()
      // Prints the progress that was reached before an error is printed.
      defer { progress.finishPart() }
      let isNew = try await StoreCopy.run(from: source, to: target) { progress.note($0.rawValue, $1, of: $2) }
      progress.finishPart()
      let counts = try await target.counts()
      try await source.close()
      try await target.close()
      let what = [(counts.accounts, "account"), (counts.sessions, "session"), (counts.refreshTokens, "refresh token")]
        .map { counted($0, $1) }.joined(separator: ", ")
      print(
        isNew
          ? "The copy is complete: \(what). Start the gateways." : "The copy was complete already; nothing was done.")
    }
  }
}
