import Operations

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
    guard !path.isEmpty else { throw NewFileError(message: "the name of the file is empty; name the file to write") }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw NewFileError(message: "\(path): \(openingProblem(errno))")
    }
    defer { close(descriptor) }
    do throws(WriteError) {
      try DescriptorOutput.writeAll(bytes, to: descriptor)
    } catch {
      throw removing(path, after: error.number)
    }
    guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else { throw removing(path, after: errno) }
  }

  private static func openingProblem(_ code: Int32) -> String {
    switch code {
    case EEXIST: "there is a file already, which is left as it is; choose another name or remove it"
    case ENOENT: "its folder is missing; create it, or choose another name"
    case EISDIR: "this is the name of a folder; name the file to write"
    default: writingProblem(code)
    }
  }

  /// Removes what was written of a file.
  /// - Parameter number: `errno` of the problem.
  private static func removing(_ path: String, after number: Int32) -> NewFileError {
    unlink(path)
    return NewFileError(message: "\(path): \(writingProblem(number))")
  }
}

/// A file was not created.
struct NewFileError: Error {
  /// The file, the problem and the remedy.
  let message: String
}
