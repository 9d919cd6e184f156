import DataPlane
import WebFormats

/// The address of the application: `http://127.0.0.1:3000`, `https://app.internal` or `unix:/run/app.sock`.
enum UpstreamURL {
  private static let remedy =
    "write \"http://127.0.0.1:3000\", \"https://app.internal\" or \"unix:\" and the path of a socket"

  static func parse(_ text: String, directory: String) throws(Diagnostic) -> UpstreamAddress {
    if text.utf8.starts(with: "unix:".utf8) {
      let path = String(decoding: text.utf8.dropFirst(5), as: UTF8.self)
      return .unix(path: try FilePath.parse(path, directory: directory, isSocket: true))
    }
    let folded = text.utf8.map(\.asciiLowercased)
    let tls = folded.starts(with: "https://".utf8)
    guard tls || folded.starts(with: "http://".utf8) else {
      throw Diagnostic("is not an http:, https: or unix: address", remedy: remedy)
    }
    var authority = Array(text.utf8.dropFirst(tls ? 8 : 7))
    if authority.last == UInt8(ascii: "/") { authority.removeLast() }
    if authority.contains(UInt8(ascii: "@")) {
      throw Diagnostic("contains user information", remedy: "remove everything up to the \"@\"")
    }
    if authority.contains(where: { "/?#\\".utf8.contains($0) }) {
      throw Diagnostic(
        "has a path or a query",
        remedy: "remove everything after host and port: paths are forwarded unchanged")
    }
    guard let parsed = Authority(parsing: authority), authority.first != UInt8(ascii: "-") else {
      throw Diagnostic("has no valid host and port", remedy: remedy)
    }
    // As written, without the brackets of an IPv6 address.
    var host = authority[..<parsed.host.count]
    if host.first == UInt8(ascii: "[") { host = host.dropFirst().dropLast() }
    return .tcp(host: String(decoding: host, as: UTF8.self), port: parsed.port ?? (tls ? 443 : 80), tls: tls)
  }
}
