/// A browser's user agent: at most 200 bytes of printable ASCII, anything else replaced by `?`.
package struct UserAgentSummary: Sendable, Equatable, CustomStringConvertible {
  /// As it is written in logs and administration.
  package let text: String
  /// In bytes.
  package static let maximumLength = 200

  /// Nil if nothing is left.
  package init?(_ bytes: some Sequence<UInt8>) {
    let cleaned = bytes.prefix(Self.maximumLength).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
    guard cleaned.contains(where: { $0 != 0x20 }) else { return nil }
    text = String(decoding: cleaned, as: UTF8.self)
  }

  package var description: String { text }
}
