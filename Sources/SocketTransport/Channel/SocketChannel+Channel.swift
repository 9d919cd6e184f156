package import NIOCore

// The parts of a channel that have one answer: it is opened and connected by functions of its own, and its settings are
// properties.
extension SocketChannel {
  /// An allocator without state: reads take their memory from ``ReceiveBuffers``.
  package var allocator: ByteBufferAllocator { ByteBufferAllocator() }
  /// None: a ``ListeningSocket`` is no channel.
  package var parent: (any Channel)? { nil }
  /// The channel itself, which the pipeline calls.
  package var _channelCore: any ChannelCore { self }

  /// Always fails: ``open()`` registers the channel.
  package func register0(promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }

  /// Always fails: ``ListeningSocket`` binds.
  package func bind0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  /// Always fails: see ``connect(to:on:timeout:isKeptAlive:)``.
  package func connect0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  /// Always fails: there are no outbound events of the socket.
  package func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  /// Drops what no handler has taken.
  package func channelRead0(_ data: NIOAny) {}

  /// Drops an error that no handler has taken.
  package func errorCaught0(error: any Error) {}

  /// Always fails: settings are properties.
  package func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
    eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
  }

  /// Always fails: settings are properties.
  package func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
    eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
  }
}
