#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The group that a folder is for, in addition to its owner.
package enum FolderGroup {
  /// The group that may enter a folder, if it is not this process's own: for /etc/cordon, the gateway's group. Nil
  /// without one, or if the folder cannot be read.
  package static func guest(of path: String) -> UInt32? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_gid != getegid(), status.st_mode & 0o010 != 0 else { return nil }
    return status.st_gid
  }
}
