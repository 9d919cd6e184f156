/// A destination for text, byte by byte or run by run: an array, or a reusable buffer, so that writing need not
/// allocate.
package protocol ByteSink: ~Copyable {
  /// Appends a byte.
  mutating func append(_ byte: UInt8)
  /// Appends a run of bytes.
  mutating func append(_ bytes: Span<UInt8>)
  /// Appends a constant of the source in UTF-8.
  mutating func append(_ text: StaticString)
}

extension [UInt8]: ByteSink {
  /// Appends a run in one copy.
  package mutating func append(_ bytes: Span<UInt8>) { bytes.withUnsafeBufferPointer { append(contentsOf: $0) } }

  /// Appends a constant of the source in one copy, without a `String`.
  package mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }
}
