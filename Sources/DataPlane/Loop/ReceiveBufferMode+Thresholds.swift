internal import SocketTransport

// Large reads are for bytes whose receiver takes everything at once: four system calls for a megabyte instead of
// sixteen, and fewer turns of the loop. A receiver that falls behind ends them: the data queued for a slow one must not
// be larger than necessary.
extension ReceiveBufferMode {
  /// A read of a frugal connection that brings so many bytes is worth larger ones.
  static let worthMore = 2_048
  /// A read that brings so many bytes is worth another, large one.
  static let worthLarge = ReceiveBufferMode.usual.size
}
