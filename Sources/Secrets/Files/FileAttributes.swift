internal import Glibc

/// The attributes of files by which a changed or replaced file differs from the old one, without opening it. Links are
/// followed, as Kubernetes exchanges the files of a secret by one.
///
/// Take them before the files are read: then a change while they are read is noticed, too.
package struct FileAttributes: Equatable, Sendable {
  /// By path; nil for a file that does not exist or cannot be seen.
  private let statuses: [String: Status?]

  private struct Status: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let modified: [Int]
    let changed: [Int]
    let mode: UInt32
  }

  /// Takes the present attributes of the files.
  package init(_ paths: [String]) {
    var statuses: [String: Status?] = [:]
    for path in paths { statuses[path] = .some(Self.status(of: path)) }
    self.statuses = statuses
  }

  /// The paths at which there is no file, or none that can be seen, in alphabetical order.
  package var missing: [String] { statuses.filter { $0.value == nil }.keys.sorted() }

  private static func status(of path: String) -> Status? {
    let use = FilesInUse.begin(path)
    defer { FilesInUse.end(use) }
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Status(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: [status.st_mtim.tv_sec, status.st_mtim.tv_nsec],
      changed: [status.st_ctim.tv_sec, status.st_ctim.tv_nsec], mode: UInt32(status.st_mode))
  }
}
