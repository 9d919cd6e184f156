/// One column of a row that is carried from store to store.
package enum StoredValue: Sendable, Equatable {
  /// No value.
  case null
  /// A number, or a time.
  case integer(Int64)
  /// A text.
  case text(String)
  /// Bytes.
  case bytes([UInt8])
}
