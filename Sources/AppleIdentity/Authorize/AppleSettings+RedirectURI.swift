internal import WebFormats

/// The rules for `redirect_uri`: https, a domain name, no IP address and not localhost, no fragment.
extension AppleSettings {
  static func redirectProblems(of redirectURI: String) -> [AppleSettingsError] {
    func problem(_ wanted: String, _ remedy: String) -> [AppleSettingsError] {
      [AppleSettingsError(key: "public_url", problem: "Apple wants a redirect URI \(wanted)", remedy: remedy)]
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
    switch HostKind(host) {
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
