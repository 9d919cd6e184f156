import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An application behind the gateway that does, on each connection, what the test says: a thread for each, raw bytes.
final class ScriptedUpstream: Sendable {
  typealias Script = @Sendable (RawSocket, Int) throws -> Void

  let port: UInt16
  private let descriptor: Int32
  /// Keeps the port for as long as this lives: a connection after ``stop()`` must not reach a server of another test.
  private let holder: Int32
  private let state = Mutex(State())

  private struct State {
    var accepted = 0
    var isStopped = false
    var sockets: [RawSocket] = []
    var errors: [String] = []
  }

  /// - Parameter script: is given each connection and its number, from 0; the connection is closed after it.
  init(receiveBuffer: Int32? = nil, _ script: @escaping Script) throws {
    (holder, port) = try Self.bound(to: 0)
    (descriptor, _) = try Self.bound(to: port)
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    let listening = descriptor
    guard listen(listening, 64) == 0 else { throw RawSocketError.system("listen", errno) }
    Thread.detachNewThread { [weak self] in
      while true {
        let accepted = accept(listening, nil, nil)
        guard accepted >= 0, let self else {
          close(listening)
          return
        }
        // It ends with the gateway's connection, or with ``stop()``: an upstream that gave up by itself would end the
        // exchanges of a test that is slow.
        let socket = RawSocket(descriptor: accepted, isPatient: true)
        let number = self.state.withLock { state in
          state.accepted += 1
          state.sockets.append(socket)
          return state.accepted - 1
        }
        Thread.detachNewThread {
          do { try script(socket, number) } catch { self.note(String(describing: error)) }
          socket.close()
        }
      }
    }
  }

  deinit { close(holder) }

  /// A socket on the port, which others may bind while neither listens.
  static func bound(to port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard try LoopbackAddress.bind(descriptor, to: port) == 0, let port = LoopbackAddress.port(of: descriptor) else {
      let code = errno
      close(descriptor)
      throw RawSocketError.system("bind", code)
    }
    return (descriptor, port)
  }

  private func note(_ error: String) { state.withLock { $0.errors.append(error) } }

  var accepted: Int { state.withLock { $0.accepted } }
  var sockets: [RawSocket] { state.withLock { $0.sockets } }

  /// Ends every connection, and refuses further ones.
  func stop() {
    // The thread that accepts closes it; a descriptor that was closed twice might be another socket's.
    let first = state.withLock { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
    if first { shutdown(descriptor, Int32(SHUT_RDWR)) }
    for socket in sockets { socket.finishBoth() }
  }
}

extension RawSocket {
  /// Reads one request, its body by Content-Length or chunks.
  func readRequest() throws -> (head: String, body: [UInt8], trailers: String) {
    let head = try readHead()
    let fields = PlainResponse(status: 0, head: head, body: [])
    if let length = fields.value("content-length").flatMap(Int.init) { return (head, try read(count: length), "") }
    if fields.value("transfer-encoding") == "chunked" {
      let (body, trailers) = try readChunks()
      return (head, body, trailers)
    }
    return (head, [], "")
  }

  func answer(_ body: String, status: String = "200 OK", fields: String = "") throws {
    try send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
  }
}
