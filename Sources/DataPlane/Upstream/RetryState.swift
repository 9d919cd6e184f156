/// The attempts made for one request, and whether another may be made.
///
/// - Where no connection came about, not one byte was sent: any request may go to another address, three in all.
/// - Where a kept connection ended before a byte of the response, the server has most likely closed it before it saw
///   the request (RFC 9112, 9.3.1). Most likely is not enough for a request that must not be carried out twice: only
///   one that is idempotent (RFC 9110, 9.2.2) and has no body, a WebSocket handshake too, is sent again, once, on a
///   fresh connection.
/// - Where an application said that it has not processed the request (REFUSED_STREAM, or GOAWAY below it; RFC 9113,
///   8.7), it is sent again once, whatever its method, as long as all of its body that was sent is still here.
/// - Nothing else is sent twice.
struct RetryState {
  /// Whether the request is idempotent and without a body.
  var isRetryable = false
  /// Whether everything that was sent of its body is still here, to be sent again.
  var isReplayable = true
  /// The address that is being tried: ``UpstreamPool/number``.
  var address = 0
  /// The addresses without a connection, a bit for each.
  private var unreachable: UInt64 = 0
  private var hasRepeated = false

  /// Most addresses that are tried for one request.
  static let addressLimit = 3

  /// After a failure: whether to try again, and which addresses not.
  /// - Parameter count: how many addresses there are.
  mutating func avoided(after failure: UpstreamFailure, of count: Int) -> UInt64? {
    switch failure {
    // A local port that is used up towards one address may be free towards another.
    case .connect, .unresolved, .connectTimeout, .lookupTimeout, .handshake, .localShortage:
      unreachable |= 1 << UInt64(address)
      guard unreachable.nonzeroBitCount < min(count, Self.addressLimit) else { return nil }
      return unreachable
    case .closedBeforeResponse(reused: true):
      guard isRetryable, !hasRepeated else { return nil }
      hasRepeated = true
      return unreachable
    case .notProcessed:
      guard isReplayable, !hasRepeated else { return nil }
      hasRepeated = true
      return unreachable
    case .closedBeforeResponse, .closedMidway, .badResponse, .responseTimeout, .connectionLimit, .noDescriptor:
      return nil
    }
  }
}
