/// Listening addresses, limits and time-outs (`[listen]` and `[[listener]]` of the configuration).
package struct ListenerSettings: Sendable, Equatable {
  /// The main listener (`[listen]`).
  package var main: AcceptorSettings
  /// Further listeners, each with a name of its own. Default: none.
  package var others: [AcceptorSettings] = []
  /// Limits of requests and connections.
  package var limits: RequestLimits
  /// Time-outs of client connections.
  package var timeouts: ListenerTimeouts

  /// Every address, the main one first.
  package var acceptors: [AcceptorSettings] { [main] + others }

  /// The main listener alone; others are added afterwards.
  package init(main: AcceptorSettings, limits: RequestLimits = .init(), timeouts: ListenerTimeouts = .init()) {
    self.main = main
    self.limits = limits
    self.timeouts = timeouts
  }

  /// A cleartext listener without trusted proxies.
  package init(address: BindAddress) { self.init(main: AcceptorSettings(address: address)) }
}

/// Limits of one request, and of all connections together. A request beyond a limit is refused before a byte of
/// it goes upstream.
package struct RequestLimits: Sendable, Equatable {
  /// Bytes of a request head: request line and fields. Default: 32,768 (32 KiB); at most 65,535. Beyond: 431.
  package var headBytes = 32_768
  /// Fields of a request head. Default: 100. Beyond: 431.
  package var fieldCount = 100
  /// Bytes of the request target. Default: 8,192 (8 KiB). Beyond: 414.
  package var targetBytes = 8_192
  /// Bytes of a request body, nil for no limit. Default: nil: the application behind the gateway knows. Beyond: 413.
  package var bodyBytes: Int?
  /// Bytes of a request body that have to arrive each second, on average since its head and not counting the time in
  /// which the gateway did not read it. Asked for after ``ListenerTimeouts/bodyGrace``. Default: 240; 0 asks for none.
  /// Slower: 408.
  package var bodyRate = 240
  /// Bytes of a response that a client has to take each second, while bytes wait for it. Asked for after
  /// ``ListenerTimeouts/bodyGrace``. Default: 240; 0 asks for none. Slower: the response is aborted.
  package var responseRate = 240
  /// Client connections at a time. Default: 10,000; ``DescriptorBudget`` may allow less. One beyond is answered 503 and
  /// closed.
  package var connections = 10_000
  /// Client connections of one address (IPv6: of one /64 network) at a time, trusted proxies excepted. Default: 0: no
  /// limit. One beyond is closed.
  package var connectionsPerClient = 0

  /// Every limit at its default.
  package init() {}
}

/// Time-outs of client connections. Kept by a wheel that turns four times a second: times are
/// rounded up to a quarter of a second.
package struct ListenerTimeouts: Sendable, Equatable {
  /// From the first byte of a request head to its last. Default: 15 s. Then: 408.
  package var head: Duration = .seconds(15)
  /// Between two reads of a request body. Default: 60 s. Then: 408.
  package var bodyProgress: Duration = .seconds(60)
  /// From the head of a request until ``RequestLimits/bodyRate`` is asked for, and from when bytes of a response wait
  /// until ``RequestLimits/responseRate`` is. Default: 10 s.
  package var bodyGrace: Duration = .seconds(10)
  /// Between two requests on a kept connection. Default: 75 s. Then it is closed.
  package var idle: Duration = .seconds(75)
  /// Without progress of a response that the client does not read. Default: 60 s. Then it is closed.
  package var writeProgress: Duration = .seconds(60)
  /// From accept to the end of the PROXY header, where there is one, and from there to the end of the TLS handshake.
  /// Default: 10 s. Then it is closed.
  package var handshake: Duration = .seconds(10)

  /// Every time-out at its default.
  package init() {}
}
