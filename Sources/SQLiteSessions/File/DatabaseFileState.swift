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

  /// The age from which nothing more comes of a modification, in nanoseconds. A commit writes the log, waits for the
  /// disk, and only then shows readers what it wrote, by the log's index alone: what was read meanwhile is without it,
  /// and the attributes do not change again. A disk that takes longer delays the news to the next read that is due.
  ///
  /// Far longer than the clock of file systems takes to advance, by a tick of the kernel (at most 10 ms): two writes
  /// within one tick have the same time. Shorter than the second between two looks: after the write of an idle gateway
  /// the next look is the last one that has to read.
  private static let settled = 800_000_000

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
