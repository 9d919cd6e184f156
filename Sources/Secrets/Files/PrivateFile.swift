import Glibc

/// Reads files that hold secrets: keys, session secrets, tokens. One permission rule for all of them: a regular file
/// that others have no access to and that its group may not change. A group may read it, which is how Debian
/// (`ssl-cert`) and Kubernetes (`fsGroup`) hand keys to a service that is not root.
package enum PrivateFile {
  /// Reads a whole file.
  ///
  /// Type, permissions and contents are those of one open descriptor, so the file cannot be replaced between the check
  /// and the read. Opening never blocks on a FIFO.
  /// - Parameter limit: the longest accepted file, in bytes.
  package static func read(_ path: String, limit: Int) throws(PrivateFileError) -> [UInt8] {
    let (bytes, mode) = try OpenedFile.read(path, limit: limit)
    guard isPrivate(mode: mode) else { throw PrivateFileError(path: path, reason: .exposed(mode: mode)) }
    return bytes
  }

  /// Whether permission bits deny all access to others, and writing to the group.
  /// - Parameter mode: `st_mode`, or its permission bits alone.
  package static func isPrivate(mode: UInt32) -> Bool { mode & 0o027 == 0 }
}

/// A reason why a file that holds a secret cannot be used. The operator has to correct it.
package struct PrivateFileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file, as the caller named it.
  package let path: String
  /// The problem.
  package let reason: Reason

  /// The kinds of problems.
  package enum Reason: Sendable, Equatable {
    /// There is no file at the path, or a folder on the way to it is missing.
    case missing
    /// The error text of the system, about the file, its path or its permissions.
    case unreadable(String)
    /// The error text of the system, about something that can pass while the file stays as it is: no descriptor or
    /// memory is left, or the file system is in trouble.
    case failed(String)
    /// A directory, a FIFO, a socket or a device.
    case notRegular
    /// Longer than `limit` bytes.
    case tooLong(limit: Int)
    /// Others have access, or the group may write: the permission bits.
    case exposed(mode: UInt32)
  }

  /// An error about a file, by the name under which the operator knows it.
  package init(path: String, reason: Reason) {
    self.path = path
    self.reason = reason
  }

  /// Whether the same file may be read later, without a change of it.
  package var isTransient: Bool { if case .failed = reason { true } else { false } }

  /// The problem, without the path.
  package var problem: String {
    switch reason {
    case .missing: "does not exist"
    case .unreadable(let text): "cannot be read (\(text))"
    case .failed(let text): "cannot be read now (\(text))"
    case .notRegular: "is not a regular file"
    case .tooLong(let limit): "has more than \(limit) bytes"
    case .exposed(let mode):
      "has mode \(Self.octal(mode)), which gives \(mode & 0o007 != 0 ? "others access" : "its group write access")"
    }
  }

  /// The command or act that corrects it.
  /// - Parameter word: writes the path as a word of a shell command.
  package func remedy(quoting word: (String) -> String) -> String {
    switch reason {
    case .missing: "put it there, or correct the path"
    case .unreadable: "let the user that runs cordon read it"
    case .failed: "look at the machine and its file system, not at the file"
    case .notRegular, .tooLong: "name the right file"
    case .exposed: "chmod g-w,o= \(word(path)) (in Kubernetes: defaultMode 0400 on the secret's volume)"
    }
  }

  package var description: String { "\(path) \(problem)" }

  private static func octal(_ mode: UInt32) -> String {
    let digits = String(mode & 0o7777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}
