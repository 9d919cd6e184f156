import WebFormats

/// Normalization of host names for comparison.
enum HostNameBytes {
  /// The name in lower case and without a final dot; nil if it is not a host name.
  static func folded(_ name: some Collection<UInt8>) -> [UInt8]? {
    var bytes = name.map(\.asciiLowercased)
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    guard (1...253).contains(bytes.count), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return bytes
  }
}
