/// The host of an authority: letters, digits, `.`, `-` and `_`, or a bracketed IPv6 address. Nothing else; no trailing
/// dot.
enum Host {
  /// Where the host of `authority` ends if it begins with a valid one; what follows is nothing, or `:` and a port.
  static func end(in authority: Span<UInt8>) -> Int? {
    guard authority.count > 0 else { return nil }
    return authority[0] == UInt8(ascii: "[") ? endOfBracketed(authority) : endOfName(authority)
  }

  /// A port: one to five digits, no leading zero, 1 to 65535, from `start` to the end.
  static func port(in authority: Span<UInt8>, from start: Int) -> UInt16? {
    guard authority.count - start >= 1, authority.count - start <= 5, authority[start] != UInt8(ascii: "0") else {
      return nil
    }
    var value = 0
    for index in start..<authority.count {
      guard authority[index] >= UInt8(ascii: "0"), authority[index] <= UInt8(ascii: "9") else { return nil }
      value = value * 10 + Int(authority[index] - UInt8(ascii: "0"))
    }
    return UInt16(exactly: value)
  }

  /// Whether browsers on the same machine only can reach the host: `localhost`, names below it, 127.0.0.0/8, `[::1]`.
  static func isLoopback(_ host: [UInt8]) -> Bool {
    let host = host.map(PathByte.folded)
    if host == Array("localhost".utf8) || host == Array("[::1]".utf8) { return true }
    return host.suffix(10).elementsEqual(".localhost".utf8)
      || host.starts(with: "127.".utf8) && isIPv4(host)
  }

  /// Whether the last label looks like a number to browsers, which then read the host as an IPv4 address.
  static func endsInNumber(_ host: [UInt8]) -> Bool {
    guard let label = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last else {
      return false
    }
    return label.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      || label.starts(with: "0x".utf8) || label.starts(with: "0X".utf8)
  }

  /// Four numbers from 0 to 255 without leading zeros.
  static func isIPv4(_ host: [UInt8]) -> Bool {
    let parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 4
      && parts.allSatisfy { part in
        guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return false }
        var value = 0
        for digit in part {
          guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return false }
          value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value <= 255
      }
  }

  private static func endOfName(_ authority: Span<UInt8>) -> Int? {
    var index = 0
    var labelLength = 0
    while index < authority.count, authority[index] != UInt8(ascii: ":") {
      let byte = authority[index]
      if byte == UInt8(ascii: ".") {
        guard labelLength > 0 else { return nil }
        labelLength = 0
      } else {
        guard PathByte.isUnreserved(byte), byte != UInt8(ascii: "~") else { return nil }
        labelLength += 1
      }
      index += 1
    }
    return labelLength > 0 && index <= 253 ? index : nil
  }

  private static func endOfBracketed(_ authority: Span<UInt8>) -> Int? {
    var index = 1
    var colons = 0
    while index < authority.count, authority[index] != UInt8(ascii: "]") {
      let byte = authority[index]
      guard PathByte.hex(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") else { return nil }
      if byte == UInt8(ascii: ":") { colons += 1 }
      index += 1
    }
    guard index < authority.count, (2...7).contains(colons), index <= 46 else { return nil }
    let end = index + 1
    return end == authority.count || authority[end] == UInt8(ascii: ":") ? end : nil
  }
}
