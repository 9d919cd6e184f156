internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Closes a listening socket. Closing it at once would reset the connections that the system has established and no
/// process has accepted: a client that came in the last moment would be refused, although another process may listen as
/// well.
enum ListeningSocket {
  /// Takes what has come, and closes. To be called on the channel's loop.
  /// Only for a socket that no other process holds: a shared one would stop accepting in the other process, too, and
  /// loses no connection when we close it.
  /// - Parameters:
  ///   - limit: how many connections there are descriptors for.
  ///   - receive: begins with a connection.
  /// - Returns: completes when that was done with each.
  static func close(
    _ channel: any Channel, atMost limit: Int, receive: @escaping @Sendable (any Channel) -> Void
  ) -> EventLoopFuture<Void> {
    var begun: [EventLoopFuture<Void>] = []
    try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
      dropEverything(at: socket)
      while begun.count < limit, let accepted = accept(socket) {
        begun.append(
          ClientBootstrap(group: channel.eventLoop)
            .withConnectedSocket(accepted).map(receive))
      }
    }
    channel.close(promise: nil)
    return .andAllComplete(begun, on: channel.eventLoop)
  }

  private static func accept(_ socket: CInt) -> CInt? {
    while true {
      #if canImport(Glibc)
        let accepted = Glibc.accept(socket, nil, nil)
      #elseif canImport(Musl)
        let accepted = Musl.accept(socket, nil, nil)
      #endif
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return accepted
      }
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
  }

  /// No packet reaches the socket from now on: a client's SYN is lost, is sent again by its system a second later, and
  /// is then another socket's. Where that cannot be had (a Unix socket), the last moment stays as short as it is.
  private static func dropEverything(at socket: CInt) {
    // One instruction of classic BPF (linux/filter.h): BPF_RET | BPF_K, 0 bytes.
    withUnsafePointer(to: Instruction(code: 0x06, ifTrue: 0, ifFalse: 0, value: 0)) { instruction in
      var program = Program(count: 1, instructions: instruction)
      _ = setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout<Program>.size))
    }
  }

  /// `struct sock_filter`.
  private struct Instruction {
    let code: UInt16
    let ifTrue: UInt8
    let ifFalse: UInt8
    let value: UInt32
  }

  /// `struct sock_fprog`.
  private struct Program {
    let count: UInt16
    let instructions: UnsafePointer<Instruction>
  }
}
