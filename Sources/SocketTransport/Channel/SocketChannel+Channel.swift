package import NIOCore

// The parts of a channel that have one answer: it is opened and connected by functions of its own, and its settings are
// properties.
extension SocketChannel {
  package var allocator: ByteBufferAllocator { ByteBufferAllocator() }
  package var parent: (any Channel)? { nil }
  package var _channelCore: any ChannelCore { self }

  package func register0(promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }

  package func bind0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  package func connect0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  package func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  package func channelRead0(_ data: NIOAny) {}

  package func errorCaught0(error: any Error) {}

  package func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
    eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
  }

  package func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
    eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
  }
}
