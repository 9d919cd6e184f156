import Foundation

/// The cookies of one browser, by RFC 6265bis as far as loopback needs it: name, host, path, `Secure` (http on loopback
/// counts as secure, as browsers hold it), `SameSite`, `Max-Age`, the `__Host-` prefix. Ports do not separate cookies.
struct CookieJar: Sendable {
  struct Cookie: Sendable, Equatable {
    var name: String
    var value: String
    var host: String
    var path = "/"
    var sameSite = "lax"
    var isSecure = false
    var isHTTPOnly = false
    /// nil: until the browser closes.
    var maxAge: Int?
  }

  private(set) var cookies: [Cookie] = []

  /// The value of a cookie, whatever host it belongs to.
  subscript(name: String) -> String? {
    get { cookies.first { $0.name == name }?.value }
    set {
      guard let index = cookies.firstIndex(where: { $0.name == name }) else { return }
      if let newValue { cookies[index].value = newValue } else { cookies.remove(at: index) }
    }
  }

  /// Removes the cookies of a host.
  mutating func forget(host: String) { cookies.removeAll { $0.host == host } }

  mutating func set(_ cookie: Cookie) {
    cookies.removeAll { $0.name == cookie.name && $0.host == cookie.host && $0.path == cookie.path }
    cookies.append(cookie)
  }

  /// Takes what a response sets; what a browser would refuse is refused.
  mutating func take(_ response: HTTPResponse, host: String) {
    for line in response.setCookies {
      guard let cookie = CookieJar.parse(line, host: host) else { continue }
      cookies.removeAll { $0.name == cookie.name && $0.host == host && $0.path == cookie.path }
      if cookie.maxAge.map({ $0 > 0 }) ?? true { cookies.append(cookie) }
    }
  }

  /// The `Cookie` header for a request, nil for none.
  /// - Parameter crossSiteUnsafe: a cross-site request that is not a top-level GET: `SameSite=None` only.
  /// - Parameter crossSite: any cross-site request: no `Strict`.
  func header(host: String, path: String, crossSite: Bool, crossSiteUnsafe: Bool) -> String? {
    let matching = cookies.filter { cookie in
      guard cookie.host == host else { return false }
      guard path == cookie.path || path.hasPrefix(cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/") else {
        return false
      }
      switch cookie.sameSite {
      case "none": return true
      case "strict": return !crossSite
      default: return !crossSiteUnsafe
      }
    }
    return matching.isEmpty ? nil : matching.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  /// Parses one `Set-Cookie` line; nil if a browser would refuse the cookie.
  static func parse(_ line: String, host: String) -> Cookie? {
    var parts = line.components(separatedBy: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    let pair = parts.removeFirst()
    guard let equals = pair.firstIndex(of: "=") else { return nil }
    var cookie = Cookie(name: String(pair[..<equals]), value: String(pair[pair.index(after: equals)...]), host: host)
    var hasDomain = false
    for part in parts {
      let words = part.split(separator: "=", maxSplits: 1).map(String.init)
      switch words.first?.lowercased() {
      case "path": cookie.path = words.count > 1 && words[1].hasPrefix("/") ? words[1] : "/"
      case "samesite": cookie.sameSite = words.count > 1 ? words[1].lowercased() : "lax"
      case "secure": cookie.isSecure = true
      case "httponly": cookie.isHTTPOnly = true
      case "domain": hasDomain = true
      case "max-age": cookie.maxAge = words.count > 1 ? Int(words[1]) : nil
      default: break
      }
    }
    if cookie.name.hasPrefix("__Host-"), !cookie.isSecure || cookie.path != "/" || hasDomain { return nil }
    if cookie.sameSite == "none" && !cookie.isSecure { return nil }
    return cookie
  }
}
