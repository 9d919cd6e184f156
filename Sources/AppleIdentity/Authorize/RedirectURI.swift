/// The rules for `redirect_uri`: https, a domain name, no IP address and not localhost, no fragment.
extension AppleSettings {
  static func redirectProblems(of redirectURI: String) -> [AppleSettingsProblem] {
    func problem(_ reason: String, _ remedy: String) -> [AppleSettingsProblem] {
      [AppleSettingsProblem(key: "public_url", reason: "Apple wants a redirect URI \(reason)", remedy: remedy)]
    }
    let bytes = Array(redirectURI.utf8)
    guard bytes.starts(with: Array("https://".utf8)) else {
      return problem("that begins with https:", "use the https: address that browsers see")
    }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }), !bytes.contains(UInt8(ascii: "#")) else {
      return problem("without a fragment, spaces or non-ASCII characters", "use only what stands in a URL's path")
    }
    let authority = bytes[8...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    let host = authority.first == UInt8(ascii: "[") ? authority : authority.prefix { $0 != UInt8(ascii: ":") }
    switch HostName(String(decoding: host, as: UTF8.self)) {
    case .domain: return []
    case .address:
      return problem("with a domain name, not an IP address", "register a domain name, also for a test system")
    case .localhost:
      return problem(
        "with a domain name, not localhost", "use a registered domain, or apple.base_url with the Apple simulator")
    case .malformed:
      return problem("with a domain name", "write public_url as https://app.example.com")
    }
  }
}

/// What kind of host a URL names.
enum HostName: Equatable {
  /// Letters, digits and hyphens with at least one dot between.
  case domain
  /// IPv4 in any of the forms that browsers read (also `0x7f.1`), or IPv6 in brackets.
  case address
  /// `localhost`, and every name under it (RFC 6761 6.3).
  case localhost
  case malformed

  init(_ host: String) {
    let bytes = Array(host.lowercased().utf8)
    if bytes.first == UInt8(ascii: "[") {
      self = .address
      return
    }
    let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard let last = labels.last, labels.allSatisfy(Self.isLabel) else {
      self = .malformed
      return
    }
    // URL Standard 3.5: a host that ends in a number is an IPv4 address.
    if last.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      || last.starts(with: Array("0x".utf8))
    {
      self = .address
    } else if last.elementsEqual("localhost".utf8) {
      self = .localhost
    } else {
      self = labels.count >= 2 ? .domain : .malformed
    }
  }

  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      && label.allSatisfy {
        $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
  }
}
