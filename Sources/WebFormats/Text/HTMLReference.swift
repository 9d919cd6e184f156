/// Character references of HTML (HTML Living Standard, 13.1.4).
package enum HTMLReference {
  /// The reference to write instead of a character in text and in quoted attribute values; nil if the character may
  /// stand there itself. By scalars, because for Swift `"` with a combining mark is a Character of its own.
  package static func of(_ scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "&": "&amp;"
    case "<": "&lt;"
    case ">": "&gt;"
    case "\"": "&quot;"
    case "'": "&#39;"
    default: nil
    }
  }
}
