import Synchronization
import WebFormats

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

  private enum Claim {
    case taken(Int32)
    /// Another process has it.
    case another
    /// The system would not say.
    case unknown
  }

  /// No claim yet.
  package init() {}

  deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

  /// Claims a file, once.
  /// - Returns: false if another process has claimed the file.
  package func take(_ path: String) -> Bool {
    var status = stat()
    // Opening may be tried again; the claim is this process's already.
    guard descriptor.withLock({ $0 < 0 }), stat(path, &status) == 0 else { return true }
    let name = UnixSocketAddress("@cordon-store-\(status.st_dev)-\(status.st_ino)")
    let claim = name?.withDatagramSocket { opened, address, length in
      if bind(opened, address.assumingMemoryBound(to: sockaddr.self), length) == 0 { return Claim.taken(opened) }
      let isTaken = errno == EADDRINUSE
      close(opened)
      return isTaken ? .another : .unknown
    }
    switch claim {
    case .taken(let opened): descriptor.withLock { $0 = opened }
    case .another: return false
    case .unknown, nil: break
    }
    return true
  }
}
