internal import HTTPTypes
internal import WebFormats

/// Where Apple is: `base_url` taken apart, so that every request is built from checked parts.
struct AppleOrigin: Sendable, Equatable {
  let scheme: String
  /// Host, and the port if one was written.
  let authority: String
  /// What stands before `/auth/…`; empty for Apple itself.
  let pathPrefix: String

  /// Reads `https://host[:port][/prefix]` or the same with `http`. `nil` for anything else: user information, a query,
  /// a fragment, a trailing slash, or bytes that have no place in a URL.
  init?(_ baseURL: String) {
    let bytes = Array(baseURL.utf8)
    let rest: ArraySlice<UInt8>
    if bytes.starts(with: Array("https://".utf8)) {
      scheme = "https"
      rest = bytes[8...]
    } else if bytes.starts(with: Array("http://".utf8)) {
      scheme = "http"
      rest = bytes[7...]
    } else {
      return nil
    }
    let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    let host = rest[..<slash]
    let path = rest[slash...]
    guard Self.isAuthority(host), path.allSatisfy(Self.isPathByte),
      path.last != UInt8(ascii: "/")
    else { return nil }
    authority = String(decoding: host, as: UTF8.self)
    pathPrefix = String(decoding: path, as: UTF8.self)
  }

  /// The absolute address of a path under this origin.
  func url(_ path: String) -> String { "\(scheme)://\(authority)\(pathPrefix)\(path)" }

  /// The host without the port, lower-cased, without the brackets of an IPv6 address.
  var host: String {
    if authority.utf8.first == UInt8(ascii: "[") {
      return String(decoding: authority.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self)
    }
    return String(decoding: authority.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
  }

  var isLoopback: Bool {
    host == "localhost" || host == "::1" || (host.utf8.starts(with: "127.".utf8) && HostName(host) == .address)
  }

  func get(_ path: String) -> AppleHTTPRequest {
    AppleHTTPRequest(
      head: HTTPRequest(
        method: .get, scheme: scheme, authority: authority, path: pathPrefix + path,
        headerFields: [.accept: "application/json", .userAgent: Self.userAgent]))
  }

  /// A form-encoded POST (RFC 6749 appendix B): everything but unreserved characters is percent-encoded.
  func post(_ path: String, form: [(name: String, value: String)]) -> AppleHTTPRequest {
    let body = Array(PercentEncoding.query(form).utf8)
    return AppleHTTPRequest(
      head: HTTPRequest(
        method: .post, scheme: scheme, authority: authority, path: pathPrefix + path,
        headerFields: [
          .accept: "application/json", .userAgent: Self.userAgent, .contentType: "application/x-www-form-urlencoded",
          .contentLength: String(body.count),
        ]),
      body: body)
  }

  /// A name of our own: Apple was seen to turn away a library's default (github.com/nhosoya/omniauth-apple, 59).
  private static let userAgent = "Cordon"

  /// `host [ ":" port ]`, the host a name, an IPv4 address, or an IPv6 address in brackets.
  private static func isAuthority(_ text: ArraySlice<UInt8>) -> Bool {
    let host: ArraySlice<UInt8>
    let isHostByte: (UInt8) -> Bool
    var port = text
    if text.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
      host = text[..<end].dropFirst()
      isHostByte = { Hex.value(of: $0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
      port = text[end...].dropFirst()
    } else {
      host = text.prefix { $0 != UInt8(ascii: ":") }
      isHostByte = \.isUnreserved
      port = text[host.endIndex...]
    }
    guard !host.isEmpty, host.allSatisfy(isHostByte) else { return false }
    return port.isEmpty || (port.first == UInt8(ascii: ":") && isPort(port.dropFirst()))
  }

  /// 1 to 65535, without leading zeros.
  private static func isPort(_ digits: ArraySlice<UInt8>) -> Bool {
    guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return false }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 65_535
  }

  private static func isPathByte(_ byte: UInt8) -> Bool {
    byte.isUnreserved || byte == UInt8(ascii: "/")
  }
}
