/// A user outbound event: the following close is an abort. No close_notify is sent, so that the peer recognizes a
/// truncated response (the only sign for a body that ends with the connection).
package struct TLSAbruptClose: Sendable, Equatable {
  /// The event has no parameters.
  package init() {}
}
