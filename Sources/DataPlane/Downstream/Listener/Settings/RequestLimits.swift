/// Limits of one request, and of all connections together. A request beyond a limit is refused before a byte of it goes
/// upstream.
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
