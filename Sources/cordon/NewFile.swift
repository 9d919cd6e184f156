#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files that a command creates for the operator, none of which takes the place of another: it may be the only copy of
/// a secret.
enum NewFile {
  /// Writes a file that must not be there yet, with permission 0600 whatever the umask is. Nothing is left behind where
  /// writing fails.
  static func create(_ path: String, _ bytes: [UInt8]) throws(NewFileError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw NewFileError(message: "\(path): \(openingProblem(errno))")
    }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw removing(path)
      }
    }
    guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else { throw removing(path) }
  }

  private static func openingProblem(_ code: Int32) -> String {
    switch code {
    case EEXIST: "there is a file already, which is left as it is; choose another name or remove it"
    case ENOENT: "its folder is missing; create it, or choose another name"
    default: String(cString: strerror(code))
    }
  }

  /// Removes what was written of a file; the error is that of `errno`.
  private static func removing(_ path: String) -> NewFileError {
    let reason = String(cString: strerror(errno))
    unlink(path)
    return NewFileError(message: "\(path): \(reason)")
  }
}

/// A file was not created.
struct NewFileError: Error {
  /// The file, the problem and the remedy.
  let message: String
}
