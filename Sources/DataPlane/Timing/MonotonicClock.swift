internal import NIOCore

extension TimeAmount {
  /// A configured duration; what does not fit becomes the longest there is.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    self = overflow ? .nanoseconds(.max / 2) : .nanoseconds(nanoseconds + attoseconds / 1_000_000_000)
  }
}
