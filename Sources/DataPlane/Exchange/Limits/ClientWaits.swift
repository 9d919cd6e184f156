internal import NIOCore

/// Time-outs of a client connection, for the timer wheel.
struct ClientWaits {
  let head: TimeAmount
  let bodyProgress: TimeAmount
  let idle: TimeAmount
  let writeProgress: TimeAmount
  let handshake: TimeAmount
}
