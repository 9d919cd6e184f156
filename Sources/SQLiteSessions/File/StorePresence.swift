import Glibc
package import Sessions

extension SQLiteSessionStore {
  /// The result of looking for a store.
  package enum Presence: Sendable {
    /// The store, opened to read whole tables. The caller closes it.
    case store(SQLiteSessionStore)
    /// There is no file yet, and this process could make one; its path.
    case nothing(String)
  }

  /// Opens the store if there is one, and leaves the folder as it is if not. Blocks.
  ///
  /// - Parameter path: absolute, perhaps a symbolic link to the file.
  /// - Throws: `StoreError` with the remedy if the store cannot be opened, if its log is there without it, or if none
  ///   can be made in its folder.
  package static func existing(path: String) throws(StoreError) -> Presence {
    let path = DatabaseFile.resolved(path)
    guard access(path, F_OK) != 0, errno == ENOENT else {
      return .store(try SQLiteSessionStore(path: path, isWholeRead: true))
    }
    // A gateway may be running on the file that was there, and its log belongs to that file alone.
    let log = DatabaseFile.log(of: path)
    guard access(log, F_OK) != 0 else {
      throw StoreError(
        code: .unavailable,
        message: "the store \(path) is gone, and its log \(log) is still there; put the store back before you start "
          + "cordon again; if there is only a backup, which the log would damage, or is to be a new store, remove "
          + "\(log) and \(path)-shm first")
    }
    guard access(FolderOwner.folder(of: path), W_OK | X_OK) == 0 else {
      let code = errno
      throw StoreError(
        code: code == ENOENT ? .missingDirectory : .denied,
        message: "the store cannot be made at \(path): \(String(cString: strerror(code))); make the folder, and let "
          + "the gateway's user write there")
    }
    return .nothing(path)
  }
}
