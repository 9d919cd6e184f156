import DataPlane
import WebFormats

/// Addresses to bind: `192.0.2.1:8080`, `[2001:db8::1]:8080` or `unix:/run/cordon/gateway.sock`.
enum AddressText {
  private static let remedy =
    "write an IP address and a port, as in \"0.0.0.0:8080\" or \"[::]:8080\", or \"unix:\" and a path"

  /// - Parameter directory: the base of a relative path of a socket.
  static func parse(_ text: String, directory: String) throws(Diagnostic) -> BindAddress {
    if text.utf8.starts(with: "unix:".utf8) {
      return .unix(
        path: try FilePath.parse(
          String(decoding: text.utf8.dropFirst(5), as: UTF8.self), directory: directory, isSocket: true))
    }
    for scheme in ["http://", "https://"] where text.utf8.starts(with: scheme.utf8) {
      let rest = text.utf8.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "/") }
      throw Diagnostic(
        "is a URL, not an address", remedy: "leave out \"\(scheme)\": \"\(String(decoding: rest, as: UTF8.self))\"")
    }
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else {
      throw Diagnostic("has no port", remedy: remedy)
    }
    var host = String(decoding: text.utf8[..<colon], as: UTF8.self)
    guard let port = Port.parse(text.utf8[text.utf8.index(after: colon)...], allowsZero: true) else {
      throw Diagnostic("has no port from 0 to 65535", remedy: remedy)
    }
    if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
      host = String(decoding: host.utf8.dropFirst().dropLast(), as: UTF8.self)
      guard host.utf8.contains(UInt8(ascii: ":")) else { throw Diagnostic("is not an address", remedy: remedy) }
    } else if host.utf8.contains(UInt8(ascii: ":")) {
      throw Diagnostic("is an IPv6 address without brackets", remedy: "write it as \"[\(host)]:\(port)\"")
    }
    guard IPAddress(host) != nil else {
      if Host.isLoopback(host.utf8) {
        throw Diagnostic("is a host name, not an IP address", remedy: "write \"127.0.0.1:\(port)\"")
      }
      if host.isEmpty || host.utf8.elementsEqual("*".utf8) {
        throw Diagnostic(
          "has no IP address", remedy: "for all addresses of the machine write \"0.0.0.0:\(port)\" or \"[::]:\(port)\"")
      }
      throw Diagnostic("is not an IP address with a port", remedy: remedy)
    }
    return .ip(host: host, port: port)
  }
}
