import Foundation

/// A TCP socket over IPv4 of this machine, as the kernel lists it (`/proc/net/tcp`).
struct ListedSocket {
  let localPort: UInt16
  let remotePort: UInt16
  /// As the kernel numbers them: 1 is established, 8 that the peer has ended its half.
  let state: Int
  /// Bytes that were written and that the peer has not acknowledged.
  let unacknowledged: Int
  /// Bytes that were received and not read.
  let unread: Int
  /// As the kernel numbers them: 2 is keep-alive.
  let timer: Int

  /// All of them.
  static func all() throws -> [ListedSocket] {
    // Read to its end, which Foundation does not do with a file that says that it is empty.
    guard let file = FileHandle(forReadingAtPath: "/proc/net/tcp") else {
      throw HarnessError.malformed("/proc/net/tcp cannot be read")
    }
    defer { try? file.close() }
    let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    return table.split(separator: "\n").dropFirst().compactMap(ListedSocket.init)
  }

  private init?(_ line: Substring) {
    let columns = line.split(separator: " ")
    guard columns.count > 5 else { return nil }
    func numbers(_ column: Int) -> [Int] { columns[column].split(separator: ":").map { Int($0, radix: 16) ?? 0 } }
    let (local, remote, queues, timers) = (numbers(1), numbers(2), numbers(4), numbers(5))
    guard [local, remote, queues, timers].allSatisfy({ $0.count == 2 }) else { return nil }
    (localPort, remotePort) = (UInt16(truncatingIfNeeded: local[1]), UInt16(truncatingIfNeeded: remote[1]))
    state = Int(columns[3], radix: 16) ?? 0
    (unacknowledged, unread, timer) = (queues[0], queues[1], timers[0])
  }
}
