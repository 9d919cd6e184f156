/// Time-outs of the steps of an exchange with the upstream, rounded up to a quarter of a second.
package struct UpstreamTimeouts: Sendable, Equatable {
  /// Name, TCP and TLS together. Default: 5 s. Then: another address, or 504.
  package var connect: Duration = .seconds(5)
  /// From the end of the request to the first byte of the final response's head. Default: 60 s. Then: 504.
  package var firstByte: Duration = .seconds(60)
  /// Between two reads of a response body. Default: 300 s. Then the response is aborted.
  package var bodyProgress: Duration = .seconds(300)
  /// Time that an idle connection is kept. Default: 4 s: shorter than with nearly all servers.
  package var idle: Duration = .seconds(4)
  /// Time without a byte in either direction of a tunnel. Default: 0: no limit. Then the tunnel ends.
  package var tunnel: Duration = .zero

  /// Every time-out at its default.
  package init() {}
}
