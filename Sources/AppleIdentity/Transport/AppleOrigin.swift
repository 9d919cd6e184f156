internal import HTTPTypes
internal import WebFormats

/// The parsed `base_url`, so that every request is built from checked parts.
struct AppleOrigin: Sendable, Equatable {
  let scheme: String
  /// Host, and the port if one was written.
  let authority: String
  /// The path before `/auth/…`; empty for Apple itself.
  let pathPrefix: String
  /// Whether the host is this machine.
  let isLoopback: Bool
  /// Whether the host is Apple's, also in capitals or with a port.
  let isApple: Bool

  /// Reads `https://host[:port][/prefix]` or the same with `http`. `nil` for anything else: user information, a query,
  /// a fragment, a trailing slash, or bytes that are invalid in a URL.
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
    let path = rest[slash...]
    guard let parsed = Authority(parsing: rest[..<slash]), path.allSatisfy(Self.isPathByte),
      path.last != UInt8(ascii: "/")
    else { return nil }
    authority = String(decoding: rest[..<slash], as: UTF8.self)
    isLoopback = Host.isLoopback(parsed.host)
    isApple = parsed.host == Self.appleHost
    pathPrefix = String(decoding: path, as: UTF8.self)
  }

  /// The absolute address of a path under this origin.
  func url(_ path: String) -> String { "\(scheme)://\(authority)\(pathPrefix)\(path)" }

  func get(_ path: String) -> AppleHTTPRequest {
    AppleHTTPRequest(
      head: HTTPRequest(
        method: .get, scheme: scheme, authority: authority, path: pathPrefix + path,
        headerFields: [.accept: "application/json", .userAgent: Self.userAgent]))
  }

  /// A form-encoded POST (RFC 6749, appendix B): everything but unreserved characters is percent-encoded.
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

  private static let appleHost = Array("appleid.apple.com".utf8)

  /// The user agent. Apple was seen to refuse a library's default one (github.com/nhosoya/omniauth-apple, 59).
  private static let userAgent = "Cordon"

  private static func isPathByte(_ byte: UInt8) -> Bool {
    byte.isUnreserved || byte == UInt8(ascii: "/")
  }
}
