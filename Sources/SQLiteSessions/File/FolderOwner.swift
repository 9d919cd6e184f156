#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The account that owns the folder of a store's file.
package struct FolderOwner {
  /// The folder.
  package let folder: String
  private let user: uid_t
  private let group: gid_t

  /// Nil if there is no such folder.
  /// - Parameter path: of the store, perhaps a symbolic link: then the folder is that of the file itself.
  package init?(of path: String) {
    folder = Self.folder(of: DatabaseFile.resolved(path))
    var status = stat()
    guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    (user, group) = (status.st_uid, status.st_gid)
  }

  /// The folder of a file, whether it exists or not.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether it is root's.
  package var isRoot: Bool { user == 0 }

  /// Its name, or its number where it has none.
  package var name: String { getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)" }

  /// Gives an open file to the account and to the group of the folder, unless root owns the folder or we are not root.
  /// A file that cannot be given away stays as it is.
  func give(_ descriptor: Int32) {
    guard geteuid() == 0, !isRoot else { return }
    _ = fchown(descriptor, user, group)
  }
}
