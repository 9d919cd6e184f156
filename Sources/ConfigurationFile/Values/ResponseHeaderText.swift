import DataPlane
import WebFormats

/// Names and values of response headers that the configuration adds.
enum ResponseHeaderText {
  /// Fields that frame a message, belong to one connection, or that the gateway writes itself, in lower case.
  private static let reserved: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade", "content-length",
    "content-type", "content-encoding", "content-range", "date", "location", "set-cookie", "www-authenticate",
    "proxy-authenticate", "x-request-id", "clear-site-data",
  ]

  /// Fields of the answers of `verify` and of requests, which a proxy may hand on as the gateway's statement about the
  /// user: reserved in every spelling that something behind it could take for the same.
  private static let ofVerify = ["X-Identity-Assertion", "X-Auth-Sign-In"]

  static func checkName(_ name: String) throws(Diagnostic) {
    guard !name.isEmpty, name.utf8.count <= 128, name.utf8.allSatisfy(\.isToken) else {
      throw Diagnostic(
        "is not a header name", remedy: "use letters, digits and \"-\", as in X-Frame-Options (RFC 9110, 5.6.2)")
    }
    let folded = String(decoding: name.utf8.map(\.asciiLowercased), as: UTF8.self)
    guard !reserved.contains(folded), !ForwardingRules.isSame(name, asOneOf: ofVerify) else {
      throw Diagnostic("is a header that the gateway or the application writes itself", remedy: "remove it")
    }
  }

  static func checkValue(_ value: String) throws(Diagnostic) {
    guard !value.isEmpty, value.utf8.count <= 8_192, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
      value.utf8.first != 0x20, value.utf8.last != 0x20
    else {
      throw Diagnostic(
        "is not a header value", remedy: "write at most 8,192 visible characters of ASCII, with spaces in between only")
    }
  }

  /// Whether two names are the same header.
  static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.map(\.asciiLowercased) == other.utf8.map(\.asciiLowercased)
  }
}
