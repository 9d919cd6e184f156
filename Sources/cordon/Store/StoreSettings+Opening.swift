import Gateway
import Logging
import PostgreSQLSessions
import SQLiteSessions
import Sessions

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension StoreSettings {
  /// Opens the store, and creates it if it is missing. One attempt.
  func open() async throws(StoreError) -> any SessionStore {
    switch location {
    case .sqlite(let path): try await SQLiteSessionStore.open(path: path)
    case .postgreSQL(let url):
      try await PostgreSQLSessionStore(
        url: url, connections: connections, notifies: notifies)
    }
  }

  /// Opens the store; logs if it is a new one, and warns if another process has it open where that is not meant to
  /// last.
  func opener(_ logger: Logger) -> StoreOpener {
    let claim = StoreClaim()
    return { () throws(StoreError) in
      let opened = try await open()
      Self.log(newStore: opened, logger)
      if let database = opened as? PostgreSQLSessionStore { Self.log(troubleOf: database, logger) }
      if case .sqlite(let path) = location, !claim.take(path) {
        logger.warning("another gateway uses the same SQLite store", metadata: ["store": "\(path)"])
      }
      return opened
    }
  }

  private static func log(newStore store: any SessionStore, _ logger: Logger) {
    if let file = store as? SQLiteSessionStore, file.wasEmptied {
      logger.warning(
        "the session store's file was empty, everybody is signed out",
        metadata: [
          "store": "\(store.place)",
          "remedy": """
          nothing if the file was made for this start; otherwise the machine may have crashed, or the disk was full: \
          stop cordon, and restore the store from a backup
          """,
        ])
    } else if store.isNew {
      logger.notice(
        "created a new session store, nobody is signed in",
        metadata: [
          "store": "\(store.place)",
          "remedy": "if there was one before: stop cordon, and put it back or mount its volume",
        ])
    }
  }

  private static func log(troubleOf database: PostgreSQLSessionStore, _ logger: Logger) {
    database.onKeptConnection { error in
      logger.warning(
        "an old connection to the session store cannot be renewed, keeping it", metadata: ["error": "\(error)"])
    }
    database.onChangeDelivery { delivery in
      switch delivery {
      case .polled(let error):
        logger.warning(
          "cannot listen for changes of the session store, polling once a second", metadata: ["error": "\(error)"])
      case .announced: logger.notice("listening for changes of the session store again")
      }
    }
  }

  /// The account that owns the folder of an SQLite store, where this process is root and the account is another one:
  /// that of the service.
  var accountOfService: FolderOwner? {
    guard geteuid() == 0, case .sqlite(let path) = location, let owner = FolderOwner(of: path), !owner.isRoot else {
      return nil
    }
    return owner
  }

  /// Warns if what root creates will not be accessible to the account that the service runs as.
  func warnAboutRoot(_ logger: Logger) {
    guard let owner = accountOfService else { return }
    logger.warning(
      "running as root in a folder of another account",
      metadata: [
        "folder": "\(owner.folder)", "owner": "\(owner.name)",
        "remedy": """
        stop it, and run it as that account: systemctl start cordon, or \
        runuser -u \(owner.name) -- cordon run --config FILE
        """,
      ])
  }

  /// Opens the store if there is one: a command that only looks must not leave one behind that is its own user's.
  func openIfPresent() async throws(StoreError) -> Doctor.StorePresence {
    switch location {
    case .sqlite(let path):
      switch try SQLiteSessionStore.existing(path: path) {
      case .store(let store): return .open(store)
      case .nothing(let path): return .absent(path)
      }
    case .postgreSQL(let url):
      switch try await PostgreSQLSessionStore.existing(url: url) {
      case .store(let store): return .open(store)
      case .nothing(let place): return .absent(place)
      }
    }
  }
}
