import NIOCore

@testable import SocketTransport

/// Time for whatever takes no time on a machine that does nothing else.
let patience = TimeAmount.seconds(120)

func withLoop(_ body: (SocketEventLoop) async throws -> Void) async throws {
  let group = try SocketEventLoopGroup(loops: 1)
  var failure: (any Error)?
  do { try await body(group.loops[0]) } catch { failure = error }
  try await group.shutdownGracefully()
  if let failure { throw failure }
}

extension SocketEventLoop {
  /// Ends the loop, and waits for that.
  func endAndWait() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      end { continuation.resume() }
    }
  }
}

/// Bytes that show their place.
func pattern(_ count: Int, seed: Int = 0) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 / 251 + seed) } }

extension [UInt8] {
  var buffer: ByteBuffer { ByteBuffer(bytes: self) }
  /// For expectations: from `==` of large arrays that differ they compute all differences, which takes hours.
  func matches(_ other: [UInt8]) -> Bool { self == other }
}
