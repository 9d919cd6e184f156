/// Numbers as bytes, the most significant first: their form in cookies, sealed values and hashes.
extension FixedWidthInteger {
  /// All bytes of the number.
  var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

  /// Reads at most as many bytes as the number has.
  init(bigEndian bytes: some Collection<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }
}
