import ArgumentParser
import ConfigurationFile
import Gateway
import Logging
import Operations
import PostgreSQLSessions
import SQLiteSessions
import Sessions

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Configuration {
  /// Reads a file for a command that needs one in order.
  /// - Parameter checksMembersFiles: not for commands that ask a running gateway, which keeps the members that it has.
  /// - Throws: `ExitCode` 78, after every problem was told on standard error.
  static func loaded(from path: String, checksMembersFiles: Bool = true) throws -> Configuration {
    do throws(ConfigurationError) {
      return try ConfigurationFile.load(path, checksMembersFiles: checksMembersFiles)
    } catch {
      throw refused(error)
    }
  }

  /// The same, with the warnings of `cordon check`.
  static func checked(
    from path: String
  ) throws -> (configuration: Configuration, warnings: [ConfigurationDiagnostic]) {
    do throws(ConfigurationError) {
      let checked = try ConfigurationFile.check(path)
      return (checked.configuration, checked.warnings)
    } catch {
      throw refused(error)
    }
  }

  private static func refused(_ error: ConfigurationError) -> ExitCode {
    printError("\(error)")
    return ExitCode(ExitStatus.configuration)
  }
}

extension StoreSettings {
  /// Opens the store, and creates it if it is missing. One attempt.
  func open() async throws(StoreError) -> any SessionStore {
    switch location {
    case .sqlite(let path): try SQLiteSessionStore(path: path)
    case .postgreSQL(let url):
      try await PostgreSQLSessionStore(
        url: url, connections: connections, notifies: notifies)
    }
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
      return .open(try SQLiteSessionStore(path: path))
    case .postgreSQL(let url):
      switch try await PostgreSQLSessionStore.existing(url: url) {
      case .store(let store): return .open(store)
      case .nothing(let place): return .absent(place)
      }
    }
  }
}
