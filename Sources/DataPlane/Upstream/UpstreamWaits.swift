internal import NIOCore

/// ``UpstreamTimeouts`` as the wheel takes them.
struct UpstreamWaits {
  let connect: TimeAmount
  let firstByte: TimeAmount
  let bodyProgress: TimeAmount
  let idle: TimeAmount

  init(_ timeouts: UpstreamTimeouts) {
    connect = TimeAmount(timeouts.connect)
    firstByte = TimeAmount(timeouts.firstByte)
    bodyProgress = TimeAmount(timeouts.bodyProgress)
    idle = TimeAmount(timeouts.idle)
  }
}
