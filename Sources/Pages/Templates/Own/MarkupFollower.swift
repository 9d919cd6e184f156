internal import WebFormats

/// Follows HTML byte by byte, to know where a template's values stand: a part of the tokenizer of the HTML standard
/// (13.2.5), enough for markup that is well formed.
struct MarkupFollower {
  /// The context of the next byte.
  enum Position: Equatable {
    /// Between tags.
    case text
    case tagName
    /// Within a tag, between its attributes.
    case tag
    case attributeName
    /// After `=`.
    case beforeValue
    /// In the value of an attribute, between these quotation marks.
    case quoted(by: UInt8)
    case unquoted
    case comment
  }

  private(set) var position = Position.text
  /// The name of the tag that is being read or was read last, in lower case; an end tag begins with `/`.
  private(set) var tag: [UInt8] = []
  /// The name of the attribute that is being read or was read last, in lower case.
  private(set) var attribute: [UInt8] = []
  /// The value so far.
  private(set) var value: [UInt8] = []

  /// Something that was read to its end.
  enum Event {
    /// The name of a tag, as in `p` or `/p`; its attributes follow.
    case tag(name: String)
    case attribute(name: String, value: [UInt8])
  }

  /// The next byte.
  mutating func take(_ byte: UInt8) -> Event? {
    switch position {
    case .text:
      if byte == UInt8(ascii: "<") { (position, tag) = (.tagName, []) }
    case .tagName:
      if tag.isEmpty, !byte.isASCIILetter, !"/!".utf8.contains(byte) {
        position = .text
      } else if Self.isBlank(byte) || byte == UInt8(ascii: ">") {
        position = byte == UInt8(ascii: ">") ? .text : .tag
        return .tag(name: tagName)
      } else {
        tag.append(byte.asciiLowercased)
        if tag.elementsEqual("!--".utf8) { (position, value) = (.comment, []) }
      }
    case .tag:
      if byte == UInt8(ascii: ">") {
        position = .text
      } else if !Self.isBlank(byte), byte != UInt8(ascii: "/") {
        (position, attribute, value) = (.attributeName, [byte.asciiLowercased], [])
      }
    case .attributeName:
      if byte == UInt8(ascii: "=") {
        position = .beforeValue
      } else if Self.isBlank(byte) || byte == UInt8(ascii: ">") {
        return endAttribute(byte)
      } else {
        attribute.append(byte.asciiLowercased)
      }
    case .beforeValue:
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        position = .quoted(by: byte)
      } else if !Self.isBlank(byte) {
        (position, value) = (.unquoted, [byte])
      }
    case .quoted(let mark):
      if byte == mark {
        position = .tag
        return .attribute(name: attributeName, value: value)
      }
      value.append(byte)
    case .unquoted:
      if Self.isBlank(byte) || byte == UInt8(ascii: ">") { return endAttribute(byte) }
      value.append(byte)
    case .comment:
      value = value.suffix(2) + [byte]
      if value.elementsEqual("-->".utf8) { position = .text }
    }
    return nil
  }

  var tagName: String { String(decoding: tag, as: UTF8.self) }
  var attributeName: String { String(decoding: attribute, as: UTF8.self) }

  /// An attribute without quotation marks ends, and with `>` the tag does.
  private mutating func endAttribute(_ byte: UInt8) -> Event {
    position = byte == UInt8(ascii: ">") ? .text : .tag
    return .attribute(name: attributeName, value: value)
  }

  /// Whether both are at the same place, so that what stands between them may be left out.
  func isLevel(with other: MarkupFollower) -> Bool {
    guard position == other.position else { return false }
    return position == .text || position == .comment || tag == other.tag && attribute == other.attribute
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || byte == 0x0C
  }
}
