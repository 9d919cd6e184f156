#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Notices that a file has changed: by what the file system says of it, without opening it. Links are followed, as
/// Kubernetes exchanges the files of a secret by one.
package struct CertificateFiles: Equatable, Sendable {
  private let seen: [String: Status?]

  /// The attributes by which a changed or replaced file differs from the old one.
  private struct Status: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let modified: [Int]
    let changed: [Int]
    let mode: UInt32
  }

  /// Looks at the files as they are.
  package init(_ paths: [String]) {
    var seen: [String: Status?] = [:]
    for path in paths { seen[path] = .some(Self.status(of: path)) }
    self.seen = seen
  }

  /// Nil for a file that is not there, or cannot be seen.
  private static func status(of path: String) -> Status? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Status(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: [status.st_mtim.tv_sec, status.st_mtim.tv_nsec],
      changed: [status.st_ctim.tv_sec, status.st_ctim.tv_nsec], mode: UInt32(status.st_mode))
  }
}
