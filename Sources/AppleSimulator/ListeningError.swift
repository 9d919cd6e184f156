import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The reason why the simulator cannot listen on its address, with the remedy.
package struct ListeningError: Error, Sendable, CustomStringConvertible {
  /// The problem and its remedy in one line, for the terminal.
  package let description: String

  /// nil for an error that says nothing of the address.
  init?(_ error: any Error, host: String, port: Int) {
    switch error {
    case let error as IOError where error.errnoCode == EADDRINUSE:
      description = "port \(port) of \(host) is in use; choose another with --port, or 0 for any that is free"
    case let error as IOError where error.errnoCode == EACCES:
      description = "port \(port) of \(host) takes privileges; choose one from 1024 on with --port"
    case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
      description = "\(host) is no address of this machine; give one with --host, such as 127.0.0.1"
    case is SocketAddressError.UnknownHost:
      description = "the host \(host) is unknown; give an address of this machine with --host, such as 127.0.0.1"
    default: return nil
    }
  }
}
