/// The host of an authority: letters, digits, `.`, `-` and `_`, or an IPv6 address in brackets. Narrower than
/// RFC 3986, 3.2.2: percent-encodings and the other characters of `reg-name` are refused, and so is a trailing dot.
package enum Host {
  /// The end of the host at the beginning of `authority`; the rest is empty, or `:` and a port.
  /// - Returns: nil if the authority does not begin with a valid host. Of an address in brackets only the characters
  ///   are checked.
  package static func end(in authority: Span<UInt8>) -> Int? {
    guard authority.count > 0 else { return nil }
    return authority[0] == UInt8(ascii: "[") ? endOfBracketed(authority) : endOfName(authority)
  }

  /// Whether a name may contain the byte.
  @inlinable @inline(__always)
  package static func isNameByte(_ byte: UInt8) -> Bool { byte.isUnreserved && byte != UInt8(ascii: "~") }

  /// Whether the host is this machine, as seen from itself: `localhost` and the names below it (RFC 6761, 6.3), or a
  /// loopback address, an IPv6 address with or without brackets. A name that merely resolves to one is not.
  package static func isLoopback(_ host: some Collection<UInt8>) -> Bool {
    let host = host.map(\.asciiLowercased)
    if let address = address(host) { return address.isLoopback }
    return host.elementsEqual("localhost".utf8) || host.suffix(10).elementsEqual(".localhost".utf8)
  }

  /// The address, if the host is a numeric one.
  package static func address(_ host: some Collection<UInt8>) -> IPAddress? {
    let host = Array(host)
    guard host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") else { return IPAddress(host) }
    return IPAddress(v6: host.dropFirst().dropLast())
  }

  /// A host as an authority has it.
  /// - Parameter host: a name, an IPv4 address, or an IPv6 address without brackets, which gets them.
  package static func bracketed(_ host: String) -> String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
  }

  /// Whether the last label looks like a number to browsers, which then read the whole host as an IPv4 address (URL
  /// Standard, 3.5).
  package static func endsInNumber(_ host: [UInt8]) -> Bool {
    guard let label = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last else {
      return false
    }
    return label.allSatisfy(\.isASCIIDigit) || label.prefix(2).map(\.asciiLowercased).elementsEqual("0x".utf8)
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
        guard isNameByte(byte) else { return nil }
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
      guard isAddressByte(byte) else { return nil }
      if byte == UInt8(ascii: ":") { colons += 1 }
      index += 1
    }
    guard index < authority.count, (2...7).contains(colons), index <= 46 else { return nil }
    let end = index + 1
    return end == authority.count || authority[end] == UInt8(ascii: ":") ? end : nil
  }

  /// Whether an address in brackets may contain the byte.
  @inlinable @inline(__always)
  static func isAddressByte(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || Hex.value(of: byte) != nil
  }
}

/// The kind of host that a URL names.
package enum HostKind: Sendable, Equatable {
  /// A domain name: labels of letters, digits and hyphens, at least two of them.
  case domain
  /// IPv4 in any of the forms that browsers read (also `0x7f.1`), or IPv6 in brackets.
  case address
  /// `localhost`, and every name below it (RFC 6761, 6.3).
  case localhost
  /// Not a host that a URL can name, or a name of one label other than `localhost`.
  case malformed

  /// Classifies a host as a URL has it: in any case, an IPv6 address with its brackets, without a port.
  package init(_ host: some Collection<UInt8>) {
    let host = host.map(\.asciiLowercased)
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if host.first == UInt8(ascii: "[") {
      self = .address
    } else if labels.isEmpty || !labels.allSatisfy(Self.isLabel) {
      self = .malformed
    } else if Host.endsInNumber(host) {
      self = .address
    } else if Host.isLoopback(host) {
      self = .localhost
    } else {
      self = labels.count >= 2 ? .domain : .malformed
    }
  }

  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      && label.allSatisfy { $0 == UInt8(ascii: "-") || $0.isASCIILetter || $0.isASCIIDigit }
  }
}
