import CSQLite
import Sessions

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension StoreError {
  /// Translates an error of the database for the operator. Parameters of statements never appear in the message.
  init(_ error: any Error, path: String) {
    switch error {
    case let error as StoreError: self = error
    case let error as SQLiteError: self = StoreError(error, path: path)
    case let error as DamagedRowError where error.isOfStore:
      self = .corrupt(path, cause: "unreadable \(error.what)")
    case let error as DamagedRowError:
      self.init(
        code: .damagedRow,
        message: "the store \(path) holds a record that cordon did not write; if it is of one user, remove it with "
          + "`cordon accounts disconnect --force SUBJECT`, otherwise restore the file from a backup",
        cause: "unreadable \(error.what)")
    default:
      self.init(
        code: .internalError, message: "the store \(path) failed; please report this", cause: "\(type(of: error))")
    }
  }

  private init(_ error: SQLiteError, path: String) {
    let systemError = error.systemError.map { ": \(String(cString: strerror($0)))" } ?? ""
    let cause = "SQLite \(error.code): \(error.message)\(systemError)"
    switch error.primaryCode {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      self.init(
        code: .busy,
        message: "the store \(path) is locked by another process; close other programs that have it open",
        cause: cause)
    case SQLITE_READONLY: self = .readOnly(path, cause: cause)
    case SQLITE_FULL: self = .full(path, cause: cause)
    // To SQLite, only a full disk is full. A quota and a limit on the size of files leave what is there readable, too.
    case SQLITE_IOERR where error.systemError == EDQUOT || error.systemError == EFBIG:
      self = .full(path, cause: cause)
    case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt(path, cause: cause)
    case SQLITE_PERM, SQLITE_AUTH:
      self.init(
        code: .denied,
        message: "may not open the store \(path); give it and its folder to the account that runs cordon", cause: cause)
    case SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_NOMEM:
      self.init(
        code: .unavailable,
        message: "the store \(path) cannot be read or written; look at the disk and at the rights of its folder",
        cause: cause)
    case SQLITE_CONSTRAINT:
      self.init(
        code: .conflict, message: "the store \(path) refused a record that contradicts another; please report this",
        cause: cause)
    default:
      self.init(code: .internalError, message: "the store \(path) failed; please report this", cause: cause)
    }
  }

  static func readOnly(_ path: String, cause: String?) -> StoreError {
    StoreError(
      code: .readOnly,
      message: "the store \(path) may be read but not written; give it and its folder to the account that runs cordon, "
        + "and look whether the file system is mounted read-only",
      cause: cause)
  }

  static func full(_ path: String, cause: String?) -> StoreError {
    StoreError(
      code: .full,
      message: "there is no room left for the store \(path); make room on its disk, or raise the quota or the limit on "
        + "the size of files",
      cause: cause)
  }

  /// Of a file whose volume hangs: a call that reads or writes it does not return.
  static func silent(_ path: String) -> StoreError {
    StoreError(
      code: .unavailable,
      message: "the store \(path) does not answer; look whether its volume hangs (the server of a network mount, the "
        + "disk, the kernel's log): cordon goes on by itself when it answers again")
  }

  static func corrupt(_ path: String, cause: String?) -> StoreError {
    StoreError(
      code: .corrupt,
      message: "the store \(path) is damaged or not a database of cordon's; stop cordon and restore the file from a "
        + "backup, or move it away with its -wal and -shm: accounts, bans, groups and tokens are lost then",
      cause: cause)
  }
}
