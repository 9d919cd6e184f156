/// The parts of a client's message that must not reach the application, written down a second time and read in another
/// way than the gateway does: names are folded as text and looked up in a set.
enum KeptNames {
  /// The identity headers that the invariants' gateway sends.
  static let identity = ["X-User-Id", "X-User-Email"]
  /// The name of the session's cookie.
  static let cookie = "__Host-cordon"

  /// The gateway's own fields, each once.
  static let own: Set<String> = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-request-id"]

  /// Names that an application could take for the gateway's, in the spelling of `folded`.
  static let reserved: Set<String> = [
    "x-user-id", "x-user-email", "x-identity-assertion", "x-original-url", "x-rewrite-url",
    "x-override-url", "x-http-destinationurl", "proxy",
  ]

  /// Of one connection only (RFC 9110, 7.6.1, and what older software takes for such).
  static let hopByHop: Set<String> = [
    "keep-alive", "proxy-connection", "te", "trailer", "http2-settings", "proxy-authenticate", "proxy-authorization",
    "expect",
  ]

  /// Strangers may not say these; trusted peers may.
  static let strangers: Set<String> = [
    "forwarded", "x-real-ip", "x-original-uri", "client-ip", "x-client-ip", "true-client-ip", "x-cluster-client-ip",
    "x-forwarded", "forwarded-for", "remote-user", "x-remote-user", "x-remote-email", "x-remote-name",
    "x-remote-group", "x-remote-groups", "cf-access-jwt-assertion", "x-auth-user", "iv-user",
    "proxy-client-ip", "proxy-remote-user", "x-jwt-assertion", "x-client-cert", "x-client-verify", "x-client-dn",
    "x-arr-clientcert", "x-host", "x-http-host-override", "x-original-host",
  ]

  /// The same for every name that begins with one of these.
  static let strangeFamilies = [
    "x-forwarded-", "x-webauth-", "x-auth-request-", "x-authenticated-", "oidc-", "x-pomerium-", "x-vouch-",
    "x-authentik-", "x-amzn-oidc-", "x-ms-client-principal", "x-ms-token-", "x-goog-iap-", "tailscale-",
    "sm-", "wl-proxy-", "client-cert", "ssl-client-", "x-ssl-client-",
  ]

  /// Whether strangers may not say a name, in the spelling of `folded`.
  static func isStrange(_ name: String) -> Bool {
    strangers.contains(name) || strangeFamilies.contains { name.hasPrefix($0) }
  }

  /// Names that frame a message, which no other spelling may look like: the exact names are judged by themselves.
  static let framing: Set<String> = ["content-length", "transfer-encoding"]

  /// A field as it is to be written: the number of a length, without leading zeros.
  static func written(_ field: LLHTTPReading.Field) -> LLHTTPReading.Field {
    guard lowercased(field.name) == "content-length" else { return field }
    let value = field.value
    var field = field
    let digits = field.value.drop { $0 == 0x30 }
    field.value = digits.isEmpty ? [0x30] : Array(digits)
    // Then its name is ours, too, whatever the case of theirs.
    if field.value.count != value.count { field.name = Array("Content-Length".utf8) }
    return field
  }

  /// Names that are forbidden in trailers (RFC 9110, 6.5.1).
  static let beforeBodyOnly: Set<String> = [
    "host", "content-length", "transfer-encoding", "connection", "trailer", "te", "cookie", "set-cookie",
    "authorization", "content-type", "content-encoding", "content-range", "expect", "upgrade", "keep-alive",
    "proxy-authorization", "forwarded", "x-real-ip",
  ]

  /// In lower case.
  static func lowercased(_ name: [UInt8]) -> String {
    String(decoding: name.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }

  /// In lower case, with every character but letters and digits turned into a hyphen, as CGI and its heirs read names.
  static func folded(_ name: [UInt8]) -> String {
    String(
      decoding: lowercased(name).utf8.map { byte in
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) ? byte : 0x2D
      }, as: UTF8.self)
  }

  /// The pairs of a Cookie field that are the gateway's own, by splitting it.
  static func gatewayCookies(in value: [UInt8]) -> [(name: [UInt8], value: [UInt8])] {
    value.split(separator: 0x3B).compactMap { part in
      let pair = trimmed(part)
      let equals = pair.firstIndex(of: 0x3D) ?? pair.endIndex
      let name = trimmed(pair[..<equals])
      let folded = lowercased(name)
      let own = lowercased(Array(cookie.utf8))
      // White space within a name ends it for some readers. By bytes: a mark that follows a hyphen makes another
      // character of it.
      let isOwn = folded == own || ["-", " ", "\t"].contains { folded.utf8.starts(with: (own + $0).utf8) }
      guard isOwn else { return nil }
      return (name, equals == pair.endIndex ? [] : trimmed(pair[pair.index(after: equals)...]))
    }
  }

  static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
    var result = Array(bytes)
    while let last = result.last, last == 0x20 || last == 0x09 { result.removeLast() }
    return Array(result.drop { $0 == 0x20 || $0 == 0x09 })
  }
}
