/// Percent-encoding (RFC 3986, 2.1).
package enum PercentEncoding {
  /// The text with every byte of its UTF-8 form encoded but the unreserved ones.
  /// - Parameter keepsSlash: whether `/` stays, as in the value of a query item that is a path.
  package static func encode(_ text: String, keepsSlash: Bool = false) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if byte.isUnreserved || keepsSlash && byte == UInt8(ascii: "/") {
        encoded.append(byte)
      } else {
        append(byte, to: &encoded)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Appends `%XX`.
  package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes += [UInt8(ascii: "%"), Hex.uppercaseDigit(byte >> 4), Hex.uppercaseDigit(byte)]
  }

  /// A path and query as a header field may carry them: bytes that are not printable ASCII are encoded, others stay.
  package static func requestTarget(_ bytes: some Collection<UInt8>) -> String {
    var target: [UInt8] = []
    target.reserveCapacity(bytes.count)
    for byte in bytes {
      if byte > 0x20 && byte < 0x7F { target.append(byte) } else { append(byte, to: &target) }
    }
    return String(decoding: target, as: UTF8.self)
  }

  /// `name=value&…`, both sides encoded. A space becomes `%20` and never `+`: Apple's authorize page takes a plus sign
  /// in `scope` literally.
  package static func query(_ parameters: [(name: String, value: String)]) -> String {
    parameters.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
  }

  /// The bytes with each escape decoded once; nil for a malformed escape. `+` stays a plus sign.
  package static func decode(_ encoded: some Collection<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(encoded.count)
    var iterator = encoded.makeIterator()
    while let byte = iterator.next() {
      guard byte == UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      guard let high = iterator.next().flatMap(Hex.value), let low = iterator.next().flatMap(Hex.value) else {
        return nil
      }
      result.append(high << 4 | low)
    }
    return result
  }
}
