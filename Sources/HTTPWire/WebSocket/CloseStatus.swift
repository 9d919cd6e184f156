/// Status code of a Close frame (RFC 6455, 7.4.1).
package enum CloseStatus: UInt16, Sendable {
  /// The server goes away.
  case goingAway = 1_001
  /// The client must not continue.
  case policyViolation = 1_008

  /// An unmasked Close frame with this status (RFC 6455, 5.5.1), as a server sends it.
  package var frame: [UInt8] { [0x88, 0x02, UInt8(rawValue >> 8), UInt8(rawValue & 0xFF)] }
}
