import DataPlane
import Sessions
import WebFormats

/// Names of identity headers and of the claims that fill them.
enum IdentityHeaderText {
  /// Fields that frame a message, belong to one connection, or that the gateway writes itself (all in lower case).
  /// Requests would break if they carried a claim, or if they were removed from clients' requests.
  private static let reserved: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "trailers", "upgrade",
    "content-length", "content-type", "content-encoding", "content-range", "range", "expect", "host", "cookie",
    "set-cookie", "date", "accept", "accept-encoding", "origin", "authorization", "proxy-authorization",
    "proxy-authenticate", "www-authenticate", "forwarded", "via", "http2-settings", "max-forwards", "x-forwarded-for",
    "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port", "x-real-ip", "x-request-id", "x-identity-assertion",
    "x-original-uri", "x-original-url", "x-rewrite-url", "x-forwarded-uri", "x-forwarded-method", "sec-fetch-mode",
    "sec-fetch-site", "traceparent", "proxy", "depth",
  ]

  /// Reserved fields that may be set for a single upstream: without a claim they do not describe the request, and
  /// clients' own are removed only for that upstream.
  private static let settable: Set<String> = [
    "authorization", "accept", "accept-encoding", "origin", "via", "x-forwarded-port",
  ]

  /// Fields without which a request cannot be forwarded, or asks for more than was authorized.
  private static let needed: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade", "content-length",
    "expect", "host", "http2-settings", "depth",
  ]

  /// Checks the name of a header that some upstream gets.
  static func checkUpstreamName(_ name: String) throws(Diagnostic) {
    if settable.contains(folded(name)) { try checkSyntax(name) } else { try checkName(name) }
  }

  /// Checks the name of a header that is removed from requests, or is not.
  static func checkClientName(_ name: String) throws(Diagnostic) {
    try checkSyntax(name)
    // RFC 9110, 5.6.2 allows these characters, but no known header has them: a pattern is meant.
    guard !name.utf8.contains(where: { "*+^|".utf8.contains($0) }), name.utf8.last != UInt8(ascii: "$") else {
      throw Diagnostic("looks like a pattern, and names are taken literally", remedy: "write each name in full")
    }
    guard !needed.contains(folded(name)) else {
      throw Diagnostic("is part of how requests are forwarded", remedy: "remove it from the list")
    }
    guard !ForwardingRules.isAlwaysReserved(name) else {
      throw Diagnostic("is set by the gateway itself", remedy: "remove it from the list")
    }
  }

  private static func checkSyntax(_ name: String) throws(Diagnostic) {
    guard !name.isEmpty, name.utf8.count <= 128, name.utf8.allSatisfy(\.isToken) else {
      throw Diagnostic(
        "is not a header name", remedy: "use letters, digits and \"-\", as in X-Forwarded-User (RFC 9110, 5.6.2)")
    }
  }

  static func checkName(_ name: String) throws(Diagnostic) {
    try checkSyntax(name)
    guard !reserved.contains(folded(name)) else {
      throw Diagnostic(
        "is a reserved header", remedy: "choose another name, as in X-Forwarded-User")
    }
  }

  static func checkClaim(_ claim: String) throws(Diagnostic) {
    guard !claim.isEmpty, claim.utf8.count <= 64,
      claim.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") })
    else {
      throw Diagnostic(
        "is not a claim", remedy: "write \"sub\", \"email\", \"name\", \"session_id\" or another claim's name")
    }
    guard !["nonce", "c_hash", "at_hash"].contains(claim) else {
      throw Diagnostic(
        "is bound to one sign-in and not stored", remedy: "write \"sub\" or \"session_id\" to tell users apart")
    }
  }

  /// The name as an application may read it that ignores case and treats `_` and `.` as `-`: two headers with the same
  /// folded name would overwrite each other.
  static func folded(_ name: String) -> String {
    let bytes = name.utf8.map {
      $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") ? UInt8(ascii: "-") : $0.asciiLowercased
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
