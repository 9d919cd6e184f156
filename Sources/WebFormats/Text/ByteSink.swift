/// A destination for text, byte by byte or run by run: an array, or a reusable buffer, so that writing need not
/// allocate.
package protocol ByteSink: ~Copyable {
  mutating func append(_ byte: UInt8)
  mutating func append(_ bytes: Span<UInt8>)
  mutating func append(_ text: StaticString)
}

extension [UInt8]: ByteSink {
  package mutating func append(_ bytes: Span<UInt8>) { bytes.withUnsafeBufferPointer { append(contentsOf: $0) } }

  package mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }
}
