package import DataPlane
internal import Secrets

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Access to the files that a configuration names, injectable so that tests need no files.
package struct FileAccess: Sendable {
  /// Reads a file, if it has at most `limit` bytes.
  package var read: @Sendable (_ path: String, _ limit: Int) -> Outcome

  /// The names of the entries of a folder, in no order.
  package var list: @Sendable (_ path: String) -> Listing

  /// Whether a folder exists.
  package var hasFolder: @Sendable (_ path: String) -> Bool

  /// Looks at the place of the store.
  package var store: @Sendable (_ path: String) -> StoreFile

  /// Reads the certificates and keys of a listener as the gateway will; nil for one in cleartext. Throws an error whose
  /// description has the remedy.
  package var readCertificate: @Sendable (AcceptorSettings) throws -> ListenerCertificate?

  /// Access by these functions. By default every folder exists and none can be listed, a store is possible everywhere,
  /// and certificates are not read.
  package init(
    read: @escaping @Sendable (_ path: String, _ limit: Int) -> Outcome,
    list: @escaping @Sendable (_ path: String) -> Listing = { _ in .missing },
    hasFolder: @escaping @Sendable (_ path: String) -> Bool = { _ in true },
    store: @escaping @Sendable (_ path: String) -> StoreFile = { _ in .possible },
    readCertificate: @escaping @Sendable (AcceptorSettings) throws -> ListenerCertificate? = { _ in nil }
  ) {
    self.read = read
    self.list = list
    self.hasFolder = hasFolder
    self.store = store
    self.readCertificate = readCertificate
  }

  /// The file in the place of an SQLite store, if there is one.
  package enum StoreFile: Sendable, Equatable {
    /// Nothing yet, or a file that may be a database.
    case possible
    /// A folder, a socket or something else that is not a regular file.
    case notRegular
    /// A regular file that does not begin as an SQLite database does.
    case notDatabase
  }

  /// The result of listing a folder.
  package enum Listing: Sendable, Equatable {
    /// The names of all entries, with `.` and `..`, in the order of the system.
    case names([String])
    /// There is no such folder.
    case missing
    /// There is something else than a folder.
    case notFolder
    /// The system's reason.
    case unreadable(reason: String)
  }

  /// The result of reading a file.
  package enum Outcome: Sendable, Equatable {
    /// The contents, and the file's permission bits.
    case contents([UInt8], mode: UInt32)
    /// There is no such file.
    case missing
    /// A folder, a socket or something else that is not a regular file.
    case notRegular
    /// More bytes than the limit; nothing was read.
    case tooLong
    /// The system's reason, which is in the file, its path or its permissions.
    case unreadable(reason: String)
    /// The system's reason, which may pass while the file stays as it is.
    case failed(reason: String)
  }

  /// The remedy of ``Outcome/failed(reason:)``.
  static let failureRemedy = "look at the machine and its file system, not at the file, and try again"

  /// The files of this machine. The store is not opened: in the process of a gateway that would drop all locks that it
  /// holds on its store (fcntl(2), "Record locking"; sqlite.org/howtocorrupt.html, 2.2).
  package static let system = FileAccess(
    read: read, list: { path in FilesInUse.during(path) { list(path) } },
    hasFolder: { path in FilesInUse.during(path) { hasFolder(path) } },
    store: { path in FilesInUse.during(path) { isRegular(path) } ? .possible : .notRegular },
    readCertificate: { try ListenerCertificate($0) })

  /// The same, for the process of a command, which has no store open: the store's first bytes are read, too.
  package static var systemWithStore: FileAccess {
    var files = system
    files.store = { path in
      guard isRegular(path) else { return .notRegular }
      // A larger file is left to the gateway, which opens it.
      guard case .contents(let bytes, _) = read(path, 65_536), !bytes.isEmpty, !bytes.starts(with: databaseHeader)
      else { return .possible }
      return .notDatabase
    }
    return files
  }

  /// The same without looks at the place of the store, whose volume may not answer, and at the folders of Unix sockets.
  /// They give warnings only.
  var withoutStore: FileAccess {
    var files = self
    files.store = { _ in .possible }
    files.hasFolder = { _ in true }
    return files
  }

  /// The first bytes of a database (SQLite, Database File Format, 1.3.1).
  private static let databaseHeader = Array("SQLite format 3\0".utf8)

  /// Whether there is a regular file, or nothing yet.
  private static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }

  private static func hasFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func list(_ path: String) -> Listing {
    guard let folder = opendir(path) else {
      switch errno {
      case ENOENT: return .missing
      case ENOTDIR: return .notFolder
      default: return .unreadable(reason: String(cString: strerror(errno)))
      }
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      names.append(name)
    }
    return .names(names)
  }

  private static func read(_ path: String, _ limit: Int) -> Outcome {
    do throws(PrivateFileError) {
      let (bytes, mode) = try OpenedFile.read(path, limit: limit)
      return .contents(bytes, mode: mode)
    } catch {
      switch error.reason {
      case .missing: return .missing
      case .unreadable(let reason): return .unreadable(reason: reason)
      case .failed(let reason): return .failed(reason: reason)
      case .notRegular, .exposed: return .notRegular
      case .tooLong: return .tooLong
      }
    }
  }
}
