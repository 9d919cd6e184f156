/// Names a session within the process; nothing can be derived from it.
package struct ConnectionKey: Hashable, Sendable {
  /// The first 64 of 128 bits.
  package let high: UInt64
  /// The other 64.
  package let low: UInt64

  /// The 128 bits in two halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}
