internal import NIOCore

extension Channel {
  /// The descriptor of the channel's socket; nil if the channel has none.
  ///
  /// `withUnsafeTransportIfAvailable` casts the channel to a protocol with a constrained type, which the runtime
  /// evaluates again for each channel, in as many instructions as half a request. This casts to the protocol alone.
  /// NIO advises against calling the protocol directly, because not every channel conforms to it: then there is no
  /// descriptor here either, and everything goes through the channel.
  var socketDescriptor: CInt? { (self as? any NIOTransportAccessibleChannelCore)?.descriptor }
}

extension NIOTransportAccessibleChannelCore {
  fileprivate var descriptor: CInt? { try? withUnsafeTransport { $0 as? CInt } }
}
