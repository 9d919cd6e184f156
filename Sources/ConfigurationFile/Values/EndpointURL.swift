import DataPlane

/// An address for POST requests: `http://127.0.0.1:3000/hooks/apple`.
enum EndpointURL {
  private static let remedy = "write an address with its path, as in \"http://127.0.0.1:3000/hooks/apple\""

  static func parse(_ text: String) throws(Diagnostic) -> EndpointAddress {
    let bytes = Array(text.utf8)
    guard let scheme = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[scheme...].starts(with: "://".utf8) else {
      throw Diagnostic("is not an http: or https: address", remedy: remedy)
    }
    let authority = bytes[(scheme + 3)...].prefix { $0 != UInt8(ascii: "/") }
    let path = bytes[authority.endIndex...]
    guard !path.isEmpty else { throw Diagnostic("has no path", remedy: remedy) }
    guard path.count <= 2_048, path.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
      throw Diagnostic(
        "has no valid path",
        remedy: "percent-encode spaces and letters beyond ASCII, and remove everything after \"#\"")
    }
    let origin = String(decoding: bytes[..<authority.endIndex], as: UTF8.self)
    return EndpointAddress(
      address: try UpstreamURL.parse(origin, directory: "/"), authority: String(decoding: authority, as: UTF8.self),
      path: String(decoding: path, as: UTF8.self))
  }
}
