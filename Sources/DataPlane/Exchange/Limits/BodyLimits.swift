internal import NIOCore

/// The limits of a request's body.
struct BodyLimits: Equatable {
  /// Bytes, nil for no limit.
  var bytes: Int?
  /// Bytes per second, 0 for none.
  var rate: Int
  /// Time before the rate is enforced.
  var grace: TimeAmount
}
