/// The identity header lines of one session: rendered once, written into every request.
package final class SerializedIdentityHeaders: Sendable {
  /// Whole field lines, each ended by CR LF.
  package let lines: [UInt8]

  /// - Parameter fields: names that are tokens, and values without control characters.
  package convenience init(_ fields: [(name: String, value: [UInt8])]) { self.init([], fields) }

  /// The same lines, and more.
  package func adding(_ fields: [(name: String, value: [UInt8])]) -> SerializedIdentityHeaders {
    SerializedIdentityHeaders(lines, fields)
  }

  private init(_ before: [UInt8], _ fields: [(name: String, value: [UInt8])]) {
    var lines = before
    for field in fields {
      // Rendering has made sure of this; a header that could end its line early must not depend on it.
      guard !field.value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { continue }
      lines += Array(field.name.utf8) + [0x3A, 0x20] + field.value + [0x0D, 0x0A]
    }
    self.lines = lines
  }
}
