/// The name of a group: 1 to 64 letters, digits, `-`, `_` or `.` of ASCII, compared byte for byte.
package struct GroupName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// As the configuration writes it.
  package let text: String
  /// The longest name, in bytes.
  package static let maximumLength = 64

  /// Nil unless `text` is a name.
  package init?(_ text: String) {
    guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  package static func < (left: GroupName, right: GroupName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  package var description: String { text }
}
