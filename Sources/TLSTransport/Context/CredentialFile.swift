import Glibc

/// A file of certificates or of a private key, read whole. What is checked (permissions) and what is read are the same
/// open file, so that nobody can exchange it between the two.
struct CredentialFile: ~Copyable {
  /// The most that such a file may have, in bytes: certificate chains are a few kilobytes.
  static let limit = 1_048_576

  let path: String
  let bytes: [UInt8]
  /// The permission bits of the file.
  let mode: UInt32

  init(path: String) throws(TLSConfigurationError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .unreadable(file: path, reason: Self.reason(errno)) }
    defer { _ = close(descriptor) }

    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .unreadable(file: path, reason: Self.reason(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.limit else {
      throw .notAPlausibleFile(file: path, limit: Self.limit)
    }

    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { target in
        Glibc.read(descriptor, target.baseAddress! + filled, target.count - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(file: path, reason: Self.reason(errno)) }
      // A file that became shorter under our hands: the parser will judge what is there.
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(bytes.count - filled)
    self.path = path
    self.bytes = bytes
    self.mode = status.st_mode
  }

  /// Refuses a private key that may be read, changed or searched by others, or changed by a group. A group may read it:
  /// that is how Debian (`ssl-cert`) and Kubernetes (`fsGroup`) hand keys to a service that is not root.
  func requirePrivate() throws(TLSConfigurationError) {
    guard self.mode & 0o027 == 0 else { throw .privateKeyExposed(file: self.path, mode: self.mode & 0o7777) }
  }

  private static func reason(_ code: Int32) -> String {
    String(cString: strerror(code))
  }
}
