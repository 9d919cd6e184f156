package import NIOCore
internal import WebFormats

extension RequestIDSource.Identifier {
  /// Writes the identifier as `X-Request-Id` has it.
  @inline(__always)
  func write(to writer: inout HeaderWriter) {
    if let given {
      writer.append(given.span.bytes)
      return
    }
    let digits = digits
    writer.append(digits.span.bytes)
  }

  /// Lends the text.
  package func withText(_ body: (Span<UInt8>) -> Void) {
    if let given { return body(given.span) }
    let digits = digits
    body(digits.span.bytes._unsafeView(as: UInt8.self))
  }

  /// The digits of both numbers.
  @inline(__always)
  private var digits: InlineArray<4, UInt64> {
    [
      UInt32(truncatingIfNeeded: high >> 32).hexadecimalDigits.bigEndian,
      UInt32(truncatingIfNeeded: high).hexadecimalDigits.bigEndian,
      UInt32(truncatingIfNeeded: low >> 32).hexadecimalDigits.bigEndian,
      UInt32(truncatingIfNeeded: low).hexadecimalDigits.bigEndian,
    ]
  }

  /// Appends the identifier as `X-Request-Id` has it: the text that a trusted proxy gave, or 32 hexadecimal digits.
  package func write(to buffer: inout ByteBuffer) { buffer.writeHead(expecting: 64) { write(to: &$0) } }
}
