internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// There is a file or folder where a Unix socket should be.
struct NotASocketError: Error {}

/// An address cannot be listened on.
package struct ListenerError: Error, CustomStringConvertible {
  /// The address, as configured.
  package let address: BindAddress
  private let reason: Reason

  private enum Reason {
    /// The system's `errno`.
    case system(CInt)
    case notASocket
  }

  init(taken address: BindAddress) {
    self.address = address
    reason = .system(EADDRINUSE)
  }

  /// Nil for errors of another kind.
  init?(_ address: BindAddress, _ error: any Error) {
    self.address = address
    switch error {
    case let error as IOError: reason = .system(error.errnoCode)
    case is NotASocketError: reason = .notASocket
    default: return nil
    }
  }

  package var description: String {
    let problem =
      switch reason {
      case .system(let code): String(cString: strerror(code))
      case .notASocket: "there is a file or folder that is not a socket"
      }
    return "cannot listen on \(address): \(problem); \(remedy)"
  }

  /// Whether another attempt fails, too, until somebody changes a permission, a file or the address.
  package var isLasting: Bool {
    switch reason {
    case .system(let code): [EACCES, EPERM, ENOENT, ENOTDIR].contains(code)
    case .notASocket: true
    }
  }

  private var remedy: String {
    switch reason {
    case .notASocket: "choose another path, or move what is there out of the way"
    case .system(EADDRINUSE): "stop what listens there, or choose another address"
    case .system(EACCES), .system(EPERM):
      address.isIP
        ? "choose a port from 1024 up; with systemd use cordon.socket, or the capability lines in cordon.service"
        : "let this user write to the socket's directory, or choose another path"
    case .system(ENOENT), .system(ENOTDIR): "create the socket's folder for the gateway's user, or choose another path"
    case .system(EADDRNOTAVAIL): "choose an address that this machine has"
    case .system: "check the address"
    }
  }
}
