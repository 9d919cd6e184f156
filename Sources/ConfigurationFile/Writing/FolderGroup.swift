#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The group that a folder is for, in addition to its owner.
package enum FolderGroup {
  /// The group that may enter a folder, where that is another one than this process's own: /etc/cordon is the gateway's
  /// group's. Nil if there is none, or where the folder cannot be looked at.
  package static func guest(of path: String) -> UInt32? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_gid != getegid(), status.st_mode & 0o010 != 0 else { return nil }
    return status.st_gid
  }
}
