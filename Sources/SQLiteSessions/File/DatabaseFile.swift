import Glibc
import Sessions
import Synchronization
import WebFormats

/// The database as a file, with its write-ahead log.
///
/// It is never opened here while it exists: closing any descriptor of a file drops all locks that the process holds on
/// it, those of other connections to the same database too (sqlite.org/howtocorrupt.html, 2.2).
struct DatabaseFile: Sendable {
  let path: String
  private let database: Identity
  private let companions: [Identity]

  /// The files that were missing or empty beside their log when this process last looked at them.
  private static let lost = Mutex<Set<String>>([])
  /// The time without a write after which a file that was lost counts as put back, in seconds.
  private static let settled = 5

  /// Tells a file from another one that has its name.
  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t

    /// - Returns: nil if there is no file.
    /// - Throws: if it is unknown whether there is one.
    init?(_ path: String) throws(StoreError) {
      guard let status = DatabaseFile.status(path) else {
        let code = errno
        guard code == ENOENT || code == ENOTDIR else { throw DatabaseFile.unreachable(path, code) }
        return nil
      }
      device = status.st_dev
      inode = status.st_ino
    }
  }

  /// - Parameter path: of a database with a connection that has read from it: as long as there is one, SQLite keeps the
  ///   log and its index (sqlite.org/walformat.html, 1.2 and 1.3).
  init(_ path: String) throws(StoreError) {
    guard let database = try Identity(path) else { throw Self.gone(path) }
    self.path = path
    self.database = database
    companions = try Self.companions(of: path)
  }

  /// The log and its index, by which processes find their way in it.
  private static func companions(of path: String) throws(StoreError) -> [Identity] {
    var found: [Identity] = []
    for companion in [log(of: path), "\(path)-shm"] {
      guard let identity = try Identity(companion) else { throw companionGone(companion) }
      found.append(identity)
    }
    return found
  }

  /// Creates the file for this user alone if there is none; otherwise removes others' permissions if we own it. SQLite
  /// gives the write-ahead log the mode of the file.
  ///
  /// A file that is missing or empty beside a log with content is refused: SQLite would delete the log to make a new
  /// database, and with it sign-outs, bans and sign-ins that are nowhere else.
  /// - Parameter now: in seconds since 1970.
  /// - Returns: whether there is a file that is empty. SQLite makes a new database of it.
  static func prepare(_ path: String, at now: Int = time(nil)) throws(StoreError) -> Bool {
    let folder = FolderOwner.folder(of: path)
    guard let owner = FolderOwner(of: path) else {
      throw StoreError(
        code: .missingDirectory,
        message: "the folder \(folder) of the store \(path) does not exist; create it for the account that runs cordon "
          + "(install -d -m 0700 -o USER \(ShellWord.quoting(folder))) or set store.url to another place")
    }
    // Before the file: of a new database SQLite writes the file first, perhaps in another process just now.
    let hasLog = Self.status(log(of: path)).map { $0.st_size > 0 } ?? false
    let found = Self.status(path)
    if hasLog, isLost(path, found, at: now) { throw orphanedLog(of: path) }
    guard let existing = found else {
      try create(path, for: owner)
      return false
    }
    guard existing.st_mode & S_IFMT == S_IFREG else {
      throw StoreError(code: .misconfigured, message: "the store \(path) is not a file; set store.url to a file's path")
    }
    if existing.st_mode & 0o077 != 0, existing.st_uid == geteuid() {
      _ = chmod(path, 0o600)
    }
    guard access(path, R_OK) == 0 else { throw denied(path) }
    guard access(path, W_OK) == 0, access(folder, W_OK) == 0 else { throw StoreError.readOnly(path, cause: nil) }
    return existing.st_size == 0
  }

  /// Whether the file of a log is missing or empty, or was so before and is perhaps being copied back just now. Opened
  /// halfway, it would get pages of the log that the rest of the copy then overwrites.
  private static func isLost(_ path: String, _ found: stat?, at now: Int) -> Bool {
    let (size, age) = (found?.st_size ?? 0, now - (found?.st_mtim.tv_sec ?? 0))
    return lost.withLock { lost in
      if size == 0 {
        lost.insert(path)
      } else if !(0...settled).contains(age) {
        lost.remove(path)
      }
      return lost.contains(path)
    }
  }

  /// Throws if the file, its log or the log's index was deleted or replaced under us: what is written now would be
  /// lost, or would damage what another process writes, and nothing of that is read.
  func requirePresence() throws(StoreError) {
    guard try Identity(path) == database else { throw Self.gone(path) }
    guard try Self.companions(of: path) == companions else { throw Self.companionGone(Self.log(of: path)) }
  }

  /// The path of the file itself where `path` is a symbolic link, also to a file that is not there yet: SQLite follows
  /// the links of the name, and keeps the log beside the file that they lead to.
  static func resolved(_ path: String) -> String {
    var path = path
    for _ in 1...mostLinks {
      guard let target = target(ofLink: path) else { break }
      path = target.hasPrefix("/") ? target : "\(FolderOwner.folder(of: path))/\(target)"
    }
    return path
  }

  /// The number of links that are followed, as with the kernel (path_resolution(7)).
  private static let mostLinks = 40

  private static func target(ofLink path: String) -> String? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(PATH_MAX)) { buffer in
      let count = buffer.withMemoryRebound(to: CChar.self) { readlink(path, $0.baseAddress!, $0.count) }
      return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
  }

  /// The size of the write-ahead log, in bytes; nil if the file is missing, or cannot be looked at. Blocks.
  var logBytes: Int? { Self.status(Self.log(of: path)).map { Int($0.st_size) } }

  /// The path of a database's write-ahead log.
  static func log(of path: String) -> String { path + "-wal" }

  /// A file that root creates belongs to the account that owns the folder: that is who opens it from then on. SQLite
  /// gives the write-ahead log the owner of the file. If the change is refused, the file stays with root, and the
  /// service then reports that it cannot open it.
  private static func create(_ path: String, for owner: FolderOwner) throws(StoreError) {
    let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      owner.give(descriptor)
      close(descriptor)
      return
    }
    switch errno {
    case EEXIST: return  // another process was faster
    case EACCES, EPERM: throw denied(path)
    case EROFS: throw StoreError.readOnly(path, cause: nil)
    case ENOSPC, EDQUOT: throw StoreError.full(path, cause: nil)
    default:
      throw StoreError(
        code: .unavailable, message: "cannot create the store \(path); set store.url to a place that can be written",
        cause: String(cString: strerror(errno)))
    }
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  private static func denied(_ path: String) -> StoreError {
    StoreError(
      code: .denied,
      message: "may not open the store \(path); give it and its folder to the account that runs cordon")
  }

  private static func gone(_ path: String) -> StoreError {
    StoreError(
      code: .unavailable,
      message: "the store \(path) was deleted or replaced while in use; put the same file back, and cordon goes on by "
        + "itself, or stop cordon, remove \(path)-wal and \(path)-shm, which would undo what the new file holds, and "
        + "start it with the new one")
  }

  private static func unreachable(_ path: String, _ code: CInt) -> StoreError {
    StoreError(
      code: .unavailable,
      message: "the store \(path) cannot be reached; give its folder back to the account that runs cordon, or bring "
        + "its volume back: cordon goes on by itself, and must not be restarted before",
      cause: String(cString: strerror(code)))
  }

  /// Opening is tried again: it succeeds as soon as the file is back.
  private static func orphanedLog(of path: String) -> StoreError {
    StoreError(
      code: .unavailable,
      message: "the store \(path) is missing or empty, and its log \(log(of: path)) is still there; move the same file "
        + "back, and cordon opens it by itself; if there is only a backup, which the log would damage, or is to be a "
        + "new store, stop cordon, and move the log and \(path)-shm away before it starts: in a new store everybody "
        + "signs in again, and groups, bans and tokens are gone")
  }

  private static func companionGone(_ companion: String) -> StoreError {
    StoreError(
      code: .unavailable,
      message: "the store's file \(companion) was deleted or replaced while in use; end cordon by SIGTERM, which keeps "
        + "what is in the log, before anything else opens the store, and start it again")
  }
}
