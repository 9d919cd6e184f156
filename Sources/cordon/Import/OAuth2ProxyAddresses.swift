/// The addresses under which others may have linked to oauth2-proxy, and those that take their place.
struct OAuth2ProxyAddresses {
  /// The prefix of oauth2-proxy's own endpoints.
  var oldPrefix = "/oauth2"
  /// The prefix of the gateway's.
  var newPrefix = "/.auth"

  /// The table, for people.
  var lines: [String] {
    let (old, new) = (oldPrefix, newPrefix)
    var pairs = [
      ("\(old)/sign_in", "\(new)/sign-in"), ("\(old)/start?rd=PATH", "\(new)/authorize?return_to=PATH"),
      ("\(old)/sign_out", "\(new)/sign-out"),
      ("\(old)/auth", "\(new)/verify (200 instead of 202, 403 with allowed_groups=…)"),
      ("\(old)/userinfo", "\(new)/session"),
      ("\(old)/callback", "\(new)/callback (register it with Apple)"),
      ("/robots.txt", "the application's own, if a route makes it public"),
      ("/ping, /ready, /metrics", "/livez, /readyz, /metrics on the admin listener"),
    ]
    pairs.removeAll { $0.0.utf8.elementsEqual($0.1.utf8) }
    let width = pairs.map(\.0.utf8.count).max() ?? 0
    let lines = pairs.map { from, to in
      "  \(from)\(String(repeating: " ", count: width - from.utf8.count))  \(to)"
    }
    return ["Links, probes and rules of other servers have to change:"] + lines
  }
}
