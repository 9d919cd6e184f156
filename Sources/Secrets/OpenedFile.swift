import Glibc

/// Reads a regular file, and reports the permissions of the descriptor that was read.
package enum OpenedFile {
  /// - Parameter limit: the longest accepted file, in bytes.
  /// - Returns: the contents, and the permission bits of `st_mode`.
  package static func read(_ path: String, limit: Int) throws(PrivateFileError) -> (bytes: [UInt8], mode: UInt32) {
    // Without O_NONBLOCK, opening a FIFO would wait for its other end.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw PrivateFileError(
        path: path, reason: errno == ENOENT ? .missing : .unreadable(String(cString: strerror(errno))))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw PrivateFileError(path: path, reason: .unreadable(String(cString: strerror(errno))))
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
        throw PrivateFileError(path: path, reason: .unreadable(String(cString: strerror(errno))))
      }
      bytes.append(contentsOf: chunk[..<count])
    }
    throw PrivateFileError(path: path, reason: .tooLong(limit: limit))
  }
}
