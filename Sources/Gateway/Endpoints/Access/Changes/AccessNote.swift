/// The note of an invitation, and the reason of a ban.
enum AccessNote {
  /// The largest size in bytes.
  static let limit = 500

  /// A note in one line; nil for an empty one.
  /// - Parameter field: the name of the field, for the error.
  static func line(_ text: String?, field: String) throws(AdminError) -> String? {
    guard let text, !text.isEmpty else { return nil }
    guard text.utf8.count <= limit,
      text.unicodeScalars.allSatisfy({
        $0.properties.generalCategory != .control && $0 != "\u{2028}" && $0 != "\u{2029}"
      })
    else { throw .badNote(field) }
    return text
  }
}
