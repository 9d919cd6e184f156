import FoundationEssentials
import Glibc

extension SessionKeyring {
  /// Reads the secrets from their files: any bytes, one trailing newline dropped, at least 32 left.
  ///
  /// - Throws: `KeyringError` with the file and the remedy.
  public init(files: [String]) throws(KeyringError) {
    var secrets: [(path: String?, secret: SecretBytes)] = []
    for path in files {
      secrets.append((path: path, secret: try Self.read(path)))
    }
    try self.init(secrets)
  }

  private static func read(_ path: String) throws(KeyringError) -> SecretBytes {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    // Two more than the longest, for the newline that is dropped and to see that there is more.
    var bytes = [UInt8](repeating: 0, count: maximumSecretLength + 2)
    var filled = 0
    while filled < bytes.count {
      let count = bytes[filled...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { break }
      if count < 0 {
        if errno == EINTR { continue }
        throw .unreadable(path: path, reason: String(cString: strerror(errno)))
      }
      filled += count
    }
    return SecretBytes(Array(bytes[..<filled]))
  }
}
