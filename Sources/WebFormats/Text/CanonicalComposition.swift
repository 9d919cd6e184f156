extension String {
  /// The text in Unicode normalization form C (Unicode Standard Annex #15).
  ///
  /// The standard library normalizes strings to compare and hash them, and offers the result by this underscored
  /// property alone. Foundation's `precomposedStringWithCanonicalMapping` gives the same, but is not in
  /// FoundationEssentials, and Foundation proper adds its ICU data, 33 MB, to the program. A test compares the two.
  package var canonicallyComposed: String { String(decoding: _nfcCodeUnits, as: UTF8.self) }
}
