internal import NIOCore

/// ``UpstreamTimeouts`` as the wheel takes them.
struct UpstreamWaits {
  let connect: TimeAmount
  let firstByte: TimeAmount
  let bodyProgress: TimeAmount
  let idle: TimeAmount
  /// Nil: a tunnel may be silent for ever.
  let tunnel: TimeAmount?

  init(_ timeouts: UpstreamTimeouts) {
    connect = TimeAmount(timeouts.connect)
    firstByte = TimeAmount(timeouts.firstByte)
    bodyProgress = TimeAmount(timeouts.bodyProgress)
    idle = TimeAmount(timeouts.idle)
    tunnel = timeouts.tunnel > .zero ? TimeAmount(timeouts.tunnel) : nil
  }
}
