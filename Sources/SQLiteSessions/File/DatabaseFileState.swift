import Glibc

/// The attributes of a database and its write-ahead log, by which a commit of any process is noticed without reading:
/// each commit appends to the log, or writes the database when that is not in WAL mode.
///
/// Like `DatabaseFile`, it opens nothing.
struct DatabaseFileState: Equatable, Sendable {
  private let database: Attributes
  private let log: Attributes?

  private struct Attributes: Equatable, Sendable {
    let device: dev_t
    let inode: ino_t
    let size: off_t
    let seconds: Int
    let nanoseconds: Int
  }

  /// The age from which a time of modification is final, in nanoseconds: the clock of file systems advances by a tick
  /// of the kernel, at most 10 ms, and two writes within one tick have the same time.
  private static let settled = 100_000_000

  /// Looks at the files as they are.
  /// - Returns: nil where equal attributes would prove nothing: a file cannot be seen, was modified just now, or lies
  ///   on a file system without fractions of a second.
  init?(_ path: String) {
    guard let database = Self.attributes(of: path) else { return nil }
    self.database = database
    log = Self.attributes(of: DatabaseFile.log(of: path))
    if log == nil, errno != ENOENT { return nil }
    var now = timespec()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
    for file in [database, log].compactMap({ $0 }) {
      guard file.nanoseconds != 0 else { return nil }
      let age = (now.tv_sec - file.seconds) &* 1_000_000_000 &+ (now.tv_nsec - file.nanoseconds)
      guard age >= Self.settled else { return nil }
    }
  }

  private static func attributes(of path: String) -> Attributes? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Attributes(
      device: status.st_dev, inode: status.st_ino, size: status.st_size, seconds: status.st_mtim.tv_sec,
      nanoseconds: status.st_mtim.tv_nsec)
  }
}
