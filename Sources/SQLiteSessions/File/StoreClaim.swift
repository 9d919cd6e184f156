import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The claim of a gateway on an SQLite file, by which a second one notices the first: a Unix socket in the abstract
/// namespace, named after the file, which the system removes with the process. Not a lock: a successor may start before
/// its predecessor ends. Containers with network namespaces of their own do not see each other's.
package final class StoreClaim: Sendable {
  private let descriptor = Mutex<Int32>(-1)

  /// No claim yet.
  package init() {}

  deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

  /// Claims a file, once.
  /// - Returns: false if another process has claimed the file.
  package func take(_ path: String) -> Bool {
    var status = stat()
    // Opening may be tried again; the claim is this process's already.
    guard descriptor.withLock({ $0 < 0 }), stat(path, &status) == 0 else { return true }
    let name = Array("\0cordon-store-\(status.st_dev)-\(status.st_ino)".utf8)
    #if canImport(Glibc)
      let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    #else
      let kind = SOCK_DGRAM | SOCK_CLOEXEC
    #endif
    let opened = socket(AF_UNIX, kind, 0)
    guard opened >= 0 else { return true }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(opened, $0, length) }
    }
    guard bound == 0 else {
      let isTaken = errno == EADDRINUSE
      close(opened)
      return !isTaken
    }
    descriptor.withLock { $0 = opened }
    return true
  }
}
