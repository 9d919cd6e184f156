package import NIOCore

/// Puts content into chunks (RFC 9112, 7.1).
package enum ChunkedEncoder {
  /// Writes the line before a chunk of `size` bytes, at least one.
  @inline(__always)
  package static func writeSize(_ size: Int, to buffer: inout ByteBuffer) {
    var digits: (UInt64, Int) = (0, 0)
    var rest = size
    // The digits gather from the lowest up, as the bytes of one word: the last written is the first read.
    repeat {
      let digit = UInt64(rest & 15)
      digits.0 = digits.0 << 8 | (digit < 10 ? digit + 0x30 : digit + 0x57)
      digits.1 += 1
      rest >>= 4
    } while rest > 0 && digits.1 < 8
    for _ in 0..<digits.1 {
      buffer.writeInteger(UInt8(truncatingIfNeeded: digits.0))
      digits.0 >>= 8
    }
    buffer.writeInteger(0x0D0A as UInt16)
  }
}
