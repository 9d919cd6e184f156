/// A destination that text is written to, byte by byte and run by run: an array, or a buffer that a caller keeps, so
/// that writing need not allocate.
package protocol ByteSink: ~Copyable {
  mutating func append(_ byte: UInt8)
  mutating func append(_ bytes: Span<UInt8>)
  mutating func append(_ text: StaticString)
}

extension [UInt8]: ByteSink {
  package mutating func append(_ bytes: Span<UInt8>) { bytes.withUnsafeBufferPointer { append(contentsOf: $0) } }

  package mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }
}
