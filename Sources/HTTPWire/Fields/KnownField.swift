/// The fields that the gateway itself has something to say about.
@usableFromInline
package enum KnownField: UInt8, Sendable, CaseIterable {
  /// Passed on as it came.
  case other
  /// Framing and routing (RFC 9112, 6; RFC 9110, 7.2).
  case contentLength, transferEncoding, host, expect
  /// Of one connection only (RFC 9110, 7.6.1, and what older software takes for such).
  case connection, keepAlive, proxyConnection, te, trailer, upgrade, http2Settings, proxyAuthenticate,
    proxyAuthorization
  /// The identity of the client.
  case cookie, setCookie, authorization
  /// Input of the gate.
  case accept, acceptLanguage, origin, userAgent, secFetchMode, secFetchSite, xRequestedWith, depth
  /// Fields between proxies: the client's address, and its request as it was sent to the first of them.
  case forwarded, xForwardedFor, xForwardedHost, xForwardedProto, xRealIP, xRequestID, traceparent
  /// The original target, as some proxies send it, and applications that trust it take for the request's own.
  case xForwardedURI, xOriginalURI, xOriginalURL, xRewriteURL
  /// Fields with an address that may have to be rewritten (RFC 9110, 10.2.2 and 8.7; RFC 4918, 10.3).
  case location, contentLocation, refresh, destination
  /// Fields that are added to a response without them (RFC 9110, 6.6.1).
  case date

  /// Their number: the length of a table indexed by them.
  package static let count = KnownField.date.rawValue + 1

  /// Classifies a field name whose bytes are all token characters.
  @inline(__always)
  static func classify(_ bytes: RawSpan, at start: Int, count: Int) -> KnownField {
    switch count {
    case 2: bytes.isToken("te", at: start, count: count) ? .te : .other
    case 4: four(bytes, start)
    case 5: bytes.isToken("depth", at: start, count: count) ? .depth : .other
    case 6: six(bytes, start)
    case 7: seven(bytes, start)
    case 8: bytes.isToken("location", at: start, count: count) ? .location : .other
    case 9: nine(bytes, start)
    case 10: ten(bytes, start)
    case 11...19: long(bytes, start, count)
    default: .other
    }
  }

  private static func four(_ bytes: RawSpan, _ start: Int) -> KnownField {
    if bytes.isToken("host", at: start, count: 4) { return .host }
    return bytes.isToken("date", at: start, count: 4) ? .date : .other
  }

  private static func six(_ bytes: RawSpan, _ start: Int) -> KnownField {
    if bytes.isToken("cookie", at: start, count: 6) { return .cookie }
    if bytes.isToken("accept", at: start, count: 6) { return .accept }
    if bytes.isToken("origin", at: start, count: 6) { return .origin }
    return bytes.isToken("expect", at: start, count: 6) ? .expect : .other
  }

  private static func seven(_ bytes: RawSpan, _ start: Int) -> KnownField {
    if bytes.isToken("upgrade", at: start, count: 7) { return .upgrade }
    if bytes.isToken("refresh", at: start, count: 7) { return .refresh }
    return bytes.isToken("trailer", at: start, count: 7) ? .trailer : .other
  }

  private static func nine(_ bytes: RawSpan, _ start: Int) -> KnownField {
    if bytes.isToken("forwarded", at: start, count: 9) { return .forwarded }
    return bytes.isToken("x-real-ip", at: start, count: 9) ? .xRealIP : .other
  }

  private static func ten(_ bytes: RawSpan, _ start: Int) -> KnownField {
    if bytes.isToken("connection", at: start, count: 10) { return .connection }
    if bytes.isToken("user-agent", at: start, count: 10) { return .userAgent }
    if bytes.isToken("set-cookie", at: start, count: 10) { return .setCookie }
    return bytes.isToken("keep-alive", at: start, count: 10) ? .keepAlive : .other
  }

  private static func long(_ bytes: RawSpan, _ start: Int, _ count: Int) -> KnownField {
    switch count {
    case 11:
      if bytes.isToken("traceparent", at: start, count: count) { return .traceparent }
      return bytes.isToken("destination", at: start, count: count) ? .destination : .other
    case 12: return bytes.isToken("x-request-id", at: start, count: count) ? .xRequestID : .other
    case 13:
      if bytes.isToken("authorization", at: start, count: count) { return .authorization }
      return bytes.isToken("x-rewrite-url", at: start, count: count) ? .xRewriteURL : .other
    case 14: return fourteen(bytes, start)
    case 15:
      if bytes.isToken("x-forwarded-for", at: start, count: count) { return .xForwardedFor }
      if bytes.isToken("accept-language", at: start, count: count) { return .acceptLanguage }
      return bytes.isToken("x-forwarded-uri", at: start, count: count) ? .xForwardedURI : .other
    case 16:
      if bytes.isToken("x-forwarded-host", at: start, count: count) { return .xForwardedHost }
      if bytes.isToken("x-requested-with", at: start, count: count) { return .xRequestedWith }
      if bytes.isToken("content-location", at: start, count: count) { return .contentLocation }
      return bytes.isToken("proxy-connection", at: start, count: count) ? .proxyConnection : .other
    case 17:
      if bytes.isToken("transfer-encoding", at: start, count: count) { return .transferEncoding }
      return bytes.isToken("x-forwarded-proto", at: start, count: count) ? .xForwardedProto : .other
    case 18: return bytes.isToken("proxy-authenticate", at: start, count: count) ? .proxyAuthenticate : .other
    case 19: return bytes.isToken("proxy-authorization", at: start, count: count) ? .proxyAuthorization : .other
    default: return .other
    }
  }

  private static func fourteen(_ bytes: RawSpan, _ start: Int) -> KnownField {
    if bytes.isToken("content-length", at: start, count: 14) { return .contentLength }
    if bytes.isToken("sec-fetch-mode", at: start, count: 14) { return .secFetchMode }
    if bytes.isToken("sec-fetch-site", at: start, count: 14) { return .secFetchSite }
    if bytes.isToken("x-original-uri", at: start, count: 14) { return .xOriginalURI }
    if bytes.isToken("x-original-url", at: start, count: 14) { return .xOriginalURL }
    return bytes.isToken("http2-settings", at: start, count: 14) ? .http2Settings : .other
  }
}
