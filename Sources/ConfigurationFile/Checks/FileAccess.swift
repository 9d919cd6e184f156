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

  /// Reads the certificates and keys of a listener as the gateway will; nil for one in cleartext. Throws an error whose
  /// description has the remedy.
  package var readCertificate: @Sendable (AcceptorSettings) throws -> ListenerCertificate?

  package init(
    read: @escaping @Sendable (_ path: String, _ limit: Int) -> Outcome,
    list: @escaping @Sendable (_ path: String) -> Listing = { _ in .missing },
    hasFolder: @escaping @Sendable (_ path: String) -> Bool = { _ in true },
    readCertificate: @escaping @Sendable (AcceptorSettings) throws -> ListenerCertificate? = { _ in nil }
  ) {
    self.read = read
    self.list = list
    self.hasFolder = hasFolder
    self.readCertificate = readCertificate
  }

  /// The result of listing a folder.
  package enum Listing: Sendable, Equatable {
    case names([String])
    case missing
    case notFolder
    /// The system's reason.
    case unreadable(reason: String)
  }

  /// The result.
  package enum Outcome: Sendable, Equatable {
    /// The contents, and the file's permission bits.
    case contents([UInt8], mode: UInt32)
    case missing
    /// A folder, a socket or something else that is not a regular file.
    case notRegular
    case tooLong
    /// The system's reason.
    case unreadable(reason: String)
  }

  /// The files of this machine.
  package static let system = FileAccess(
    read: read, list: list, hasFolder: hasFolder, readCertificate: { try ListenerCertificate($0) })

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
      case .notRegular, .exposed: return .notRegular
      case .tooLong: return .tooLong
      }
    }
  }
}
