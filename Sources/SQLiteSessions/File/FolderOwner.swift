#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The account that owns the folder of a file.
package struct FolderOwner {
  /// The folder.
  package let folder: String
  /// Whether it is root's.
  package let isRoot: Bool
  /// Its name, or its number where it has none.
  package let name: String

  /// Nil if there is no such folder.
  package init?(of path: String) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    folder = slash == path.startIndex ? "/" : String(path[..<slash])
    var status = stat()
    guard stat(folder, &status) == 0 else { return nil }
    isRoot = status.st_uid == 0
    name = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
  }
}
