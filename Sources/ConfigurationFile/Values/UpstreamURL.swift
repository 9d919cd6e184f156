import DataPlane

/// Where the application listens: `http://127.0.0.1:3000`, `https://app.internal` or `unix:/run/app.sock`.
enum UpstreamURL {
  private static let remedy =
    "write \"http://127.0.0.1:3000\", \"https://app.internal\" or \"unix:\" and the path of a socket"

  static func parse(_ text: String, directory: String) throws(Diagnostic) -> UpstreamAddress {
    if text.utf8.starts(with: "unix:".utf8) {
      let path = String(decoding: text.utf8.dropFirst(5), as: UTF8.self)
      return .unix(path: try FilePath.parse(path, directory: directory, isSocket: true))
    }
    let folded = text.utf8.map(\.folded)
    let tls = folded.starts(with: "https://".utf8)
    guard tls || folded.starts(with: "http://".utf8) else {
      throw Diagnostic("is no http:, https: or unix: address", remedy: remedy)
    }
    var authority = Array(text.utf8.dropFirst(tls ? 8 : 7))
    if authority.last == UInt8(ascii: "/") { authority.removeLast() }
    if authority.contains(UInt8(ascii: "@")) {
      throw Diagnostic("has user information in it", remedy: "leave out everything up to the \"@\"")
    }
    if authority.contains(where: { "/?#\\".utf8.contains($0) }) {
      throw Diagnostic(
        "has a path or a query",
        remedy: "leave out everything after the host and the port: paths are forwarded as they arrive")
    }
    guard let (host, port) = split(authority), isHost(host) else {
      throw Diagnostic("has no valid host and port", remedy: remedy)
    }
    return .tcp(host: String(decoding: host, as: UTF8.self), port: port ?? (tls ? 443 : 80), tls: tls)
  }

  /// Host without brackets, and port; nil where either cannot be.
  private static func split(_ authority: [UInt8]) -> (host: ArraySlice<UInt8>, port: UInt16?)? {
    var rest = authority[...]
    let host: ArraySlice<UInt8>
    if rest.first == UInt8(ascii: "[") {
      guard let close = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = rest[1..<close]
      guard host.contains(UInt8(ascii: ":")) else { return nil }
      rest = rest[(close + 1)...]
    } else {
      host = rest.prefix { $0 != UInt8(ascii: ":") }
      rest = rest.dropFirst(host.count)
    }
    if rest.isEmpty { return (host, nil) }
    guard rest.first == UInt8(ascii: ":"), let port = DecimalDigits.parse(rest.dropFirst(), limit: 65_535), port > 0
    else { return nil }
    return (host, UInt16(port))
  }

  private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
    if host.contains(UInt8(ascii: ":")) { return IPAddressBytes(String(decoding: host, as: UTF8.self)) != nil }
    return (1...253).contains(host.count) && host.first != UInt8(ascii: ".") && host.first != UInt8(ascii: "-")
      && host.allSatisfy { $0.isLetter || $0.isDigit || "-._".utf8.contains($0) }
  }
}
