import DataPlane
import Secrets
import WebFormats

/// The address of an HTTP proxy: `http://proxy:3128`, or with user and password `http://user:password@proxy:3128`:
/// diagnostics never repeat these.
enum ProxyURL {
  static func parse(_ text: String) throws(Diagnostic) -> ConnectProxy {
    let bytes = Array(text.utf8)
    guard bytes.prefix(7).map(\.asciiLowercased).elementsEqual("http://".utf8) else {
      throw Diagnostic(
        "is not an http: address",
        remedy: "write \"http://proxy:3128\": the proxy is spoken to in cleartext, and TLS with Apple is end to end")
    }
    var rest = bytes[7...]
    if rest.last == UInt8(ascii: "/") { rest.removeLast() }
    var authorization: Secret<ConnectProxy.Authorization>?
    if let end = rest.lastIndex(of: UInt8(ascii: "@")) {
      let credentials = try decode(rest[..<end])
      authorization = Secret(Array("Basic ".utf8) + Base64.encode(credentials))
      rest = rest[(end + 1)...]
    }
    guard let parsed = Authority(parsing: rest), rest.first != UInt8(ascii: "-") else {
      throw Diagnostic("has no valid host and port", remedy: "write \"http://proxy:3128\", without a path")
    }
    guard let port = parsed.port else {
      throw Diagnostic("has no port", remedy: "add it, as in \"http://proxy:3128\"")
    }
    var host = parsed.host[...]
    if host.first == UInt8(ascii: "[") { host = host.dropFirst().dropLast() }
    return ConnectProxy(host: String(decoding: host, as: UTF8.self), port: port, authorization: authorization)
  }

  /// User and password (RFC 7617, 2): the first colon ends the user, so a percent-encoded one cannot be in it.
  private static func decode(_ text: ArraySlice<UInt8>) throws(Diagnostic) -> [UInt8] {
    let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let user = PercentEncoding.decode(parts[0]),
      let password = PercentEncoding.decode(parts[1]), !user.isEmpty, !user.contains(UInt8(ascii: ":")),
      !(user + password).contains(where: { $0 < 0x20 || $0 == 0x7F })
    else {
      throw Diagnostic(
        "has no valid user and password",
        remedy:
          "write \"http://user:password@proxy:3128\"; percent-encode \":\", \"/\", \"@\" and \"%\" in them")
    }
    return user + [UInt8(ascii: ":")] + password
  }
}
