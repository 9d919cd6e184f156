import AppleSimulator
import ArgumentParser
import Foundation
import Glibc

/// The source of the client's public key.
enum ClientKeyFile {
  /// The public key in PEM, read or made; nothing if no file is named.
  static func publicKey(
    publicKeyFile: String?, privateKeyFile: String?, newKeyFile: String?
  ) throws -> String? {
    if let publicKeyFile { return try text(of: publicKeyFile) }
    if let privateKeyFile {
      guard let key = ClientKey(privateKeyPEM: try text(of: privateKeyFile)) else {
        throw ValidationError("\(privateKeyFile) is not a P-256 private key in PKCS #8 (a .p8)")
      }
      return key.publicKeyPEM
    }
    guard let newKeyFile else { return nil }
    let key = ClientKey()
    try write(key.privateKeyPEM, toNewFile: newKeyFile)
    return key.publicKeyPEM
  }

  /// Writes a file that only its owner may read, from its first moment on.
  ///
  /// A file that is there already is left alone: it may be the only copy of somebody's key.
  private static func write(_ text: String, toNewFile path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let remedy = errno == EEXIST ? " (use --private-key-file, or choose another name)" : ""
      throw ValidationError("\(path) cannot be made: \(String(cString: strerror(errno)))\(remedy)")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  private static func text(of file: String) throws -> String {
    do {
      return String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
    } catch {
      throw ValidationError("\(file) cannot be read: \(error.localizedDescription)")
    }
  }
}
