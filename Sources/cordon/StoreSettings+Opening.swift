import Gateway
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

  /// The account that owns the folder of an SQLite store, where this process is root and the account is another one:
  /// that of the service.
  var accountOfService: FolderOwner? {
    guard geteuid() == 0, case .sqlite(let path) = location, let owner = FolderOwner(of: path), !owner.isRoot else {
      return nil
    }
    return owner
  }

  /// Opens the store if there is one: a command that only looks must not leave one behind that is its own user's.
  func openIfPresent() async throws(StoreError) -> Doctor.StorePresence {
    switch location {
    case .sqlite(let path):
      if access(path, F_OK) != 0, errno == ENOENT {
        // A gateway may be running on the file that was there: the next start would make an empty one.
        guard access(path + "-wal", F_OK) != 0 else {
          throw StoreError(
            code: .unavailable,
            message: "the store \(path) is gone, and its log \(path)-wal is still there; put the store back before you "
              + "start cordon again, or remove \(path)-wal and \(path)-shm if there is to be a new one")
        }
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        guard access(folder, W_OK | X_OK) == 0 else {
          throw StoreError(
            code: errno == ENOENT ? .missingDirectory : .denied,
            message: "the store cannot be made at \(path): \(String(cString: strerror(errno))); make the folder, and "
              + "let the gateway's user write there")
        }
        return .absent(path)
      }
      return .open(try SQLiteSessionStore(path: path, isWholeRead: true))
    case .postgreSQL(let url):
      switch try await PostgreSQLSessionStore.existing(url: url) {
      case .store(let store): return .open(store)
      case .nothing(let place): return .absent(place)
      }
    }
  }
}
