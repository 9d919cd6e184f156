internal import HTTPTypes

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
    guard !host.isEmpty, host.allSatisfy(Self.isAuthorityByte), path.allSatisfy(Self.isPathByte),
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
        headerFields: [.accept: "application/json"]))
  }

  /// A form-encoded POST (RFC 6749 appendix B): everything but unreserved characters is percent-encoded.
  func post(_ path: String, form: [(name: String, value: String)]) -> AppleHTTPRequest {
    let body = Array(PercentEncoding.query(form).utf8)
    return AppleHTTPRequest(
      head: HTTPRequest(
        method: .post, scheme: scheme, authority: authority, path: pathPrefix + path,
        headerFields: [
          .accept: "application/json", .contentType: "application/x-www-form-urlencoded",
          .contentLength: String(body.count),
        ]),
      body: body)
  }

  private static func isAuthorityByte(_ byte: UInt8) -> Bool {
    PercentEncoding.isUnreserved(byte) || [UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]")].contains(byte)
  }

  private static func isPathByte(_ byte: UInt8) -> Bool {
    PercentEncoding.isUnreserved(byte) || byte == UInt8(ascii: "/")
  }
}
