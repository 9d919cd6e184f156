internal import Secrets

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The file of a Unix socket that listens. Clients find the socket by it: once it is removed, or another file is in its
/// place, the socket listens on, but no new connection reaches it.
package struct SocketFile: Sendable {
  /// The place of the file when the socket was bound.
  package let path: String
  /// Whether another process bound the socket, such as systemd.
  package let isInherited: Bool
  /// While the socket is bound, the system gives the number of its inode to no other file.
  private let identity: Identity

  /// Whether clients reach the socket.
  package enum State: Sendable, Equatable {
    /// The file is there.
    case present
    /// There is no file.
    case removed
    /// There is another file.
    case replaced
    /// The folder could not be looked at.
    case unknown
  }

  private struct Identity: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  private enum Look {
    case file(Identity)
    case nothing
    case failed
  }

  /// Looks at the file of a socket that was bound a moment ago; nil for an IP address, and if the file cannot be seen.
  package init?(of address: BindAddress, isInherited: Bool) {
    guard case .unix(let path) = address, case .file(let identity) = Self.look(at: path) else { return nil }
    self.path = path
    self.isInherited = isInherited
    self.identity = identity
  }

  /// Looks at the file again: a call of `stat`.
  package var state: State {
    switch FilesInUse.during(path, { Self.look(at: path) }) {
    case .file(let found): found == identity ? .present : .replaced
    case .nothing: .removed
    case .failed: .unknown
    }
  }

  /// Removes the file, unless another process bound the socket, or another file is in its place. Before the socket is
  /// closed: as long as it listens, a successor does not take its place.
  func remove() { if !isInherited { FilesInUse.during(path) { removeOwn() } } }

  private func removeOwn() {
    var status = stat()
    guard lstat(path, &status) == 0, Identity(status) == identity else { return }
    unlink(path)
  }

  private static func look(at path: String) -> Look {
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .nothing : .failed }
    return .file(Identity(status))
  }
}
