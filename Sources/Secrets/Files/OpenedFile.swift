import Glibc

/// Reads a regular file, and reports the permissions of the descriptor that was read.
package enum OpenedFile {
  /// - Parameter limit: the longest accepted file, in bytes.
  /// - Returns: the contents, and the permission bits of `st_mode`.
  package static func read(_ path: String, limit: Int) throws(PrivateFileError) -> (bytes: [UInt8], mode: UInt32) {
    let use = FilesInUse.begin(path)
    defer { FilesInUse.end(use) }
    // Without O_NONBLOCK, opening a FIFO would wait for its other end.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw PrivateFileError(path: path, reason: reason(of: errno))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw PrivateFileError(path: path, reason: reason(of: errno))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw PrivateFileError(path: path, reason: .notRegular) }
    var bytes: [UInt8] = []
    // In one piece: an array that grows leaves a copy behind, perhaps of a secret.
    bytes.reserveCapacity(min(max(0, Int(status.st_size)), limit))
    var chunk = [UInt8](repeating: 0, count: 16_384)
    defer { chunk.erase() }
    while bytes.count <= limit {
      let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { return (bytes, status.st_mode & 0o7777) }
      if count < 0 {
        if errno == EINTR { continue }
        throw PrivateFileError(path: path, reason: reason(of: errno))
      }
      bytes.append(contentsOf: chunk[..<count])
    }
    throw PrivateFileError(path: path, reason: .tooLong(limit: limit))
  }

  /// The kind of an error of the system: of the file, its path or its permissions, or of the machine.
  private static func reason(of code: Int32) -> PrivateFileError.Reason {
    let text = String(cString: strerror(code))
    switch code {
    case ENOENT: return .missing
    case EACCES, EPERM, ENOTDIR, ELOOP, ENAMETOOLONG, EISDIR, ENXIO, ENODEV, EINVAL, EOVERFLOW:
      return .unreadable(text)
    default: return .failed(text)
    }
  }
}
