/// Percent-encoding of query and form text (RFC 3986 2.1 to 2.3).
///
/// A space becomes `%20` and never `+`: Apple's authorize page takes a plus sign in `scope` literally.
enum PercentEncoding {
  /// `name=value&…`, both sides encoded.
  static func query(_ parameters: [(name: String, value: String)]) -> String {
    parameters.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
  }

  /// Every byte of the UTF-8 form but the unreserved ones becomes `%XX`.
  static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(hexDigits[Int(byte >> 4)])
        encoded.append(hexDigits[Int(byte & 0x0F)])
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// `ALPHA / DIGIT / "-" / "." / "_" / "~"`
  static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default:
      false
    }
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
