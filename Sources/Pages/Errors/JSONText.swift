internal import WebFormats

/// Writes small JSON objects (RFC 8259 section 7), so that Foundation is not needed for them.
enum JSONText {
  static func object(_ members: [(name: String, value: String)]) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(member.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      append(member.value, to: &bytes)
    }
    bytes += "}\n".utf8
    return bytes
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      // `<` too: harmless should somebody paste the text into a script element.
      case 0..<0x20, 0x7F, UInt8(ascii: "<"):
        bytes += "\\u00".utf8
        bytes += [Hex.digit(byte >> 4), Hex.digit(byte)]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
