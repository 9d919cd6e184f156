internal import NIOCore

/// A connection that does not speak HTTP yet: it has no exchange, and is closed at once where it has to end.
protocol PreliminaryConnection: AcceptedConnection, IncompleteRequestOwner {
  var server: ServerContext { get }
  /// Nil before the handler is in its pipeline, and after it was removed.
  var context: ChannelHandlerContext? { get }
}

extension PreliminaryConnection {
  var incompleteRequests: IncompleteRequestBudget { server.loop.incompleteRequests }
  var sessions: [ConnectionKey] { [] }

  func abort() { context?.close(promise: nil) }

  func giveUpRequest() { context?.close(promise: nil) }

  func endExchanges(of sessions: Set<ConnectionKey>, for ending: ExchangeEnding) {}
}
