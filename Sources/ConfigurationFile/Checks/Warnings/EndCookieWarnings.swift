import DataPlane

/// Upstreams of one application, as for another timeout, of which not all have its session cookies in `end_cookies`.
enum EndCookieWarnings {
  /// An upstream that does not name a cookie forwards it with the code that another one has appended, which the
  /// application does not know, and forwards those that it sets itself whatever the account. Cookies with a path of
  /// their own are left out: they need not reach the other upstream.
  static func warnings(_ configuration: Configuration, _ context: DecodingContext) -> [ConfigurationDiagnostic] {
    let upstreams = ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices))
    var known: [UpstreamAddress: Set<String>] = [:]
    var named: [UpstreamAddress: [(cookie: String, upstream: String)]] = [:]
    for (settings, _) in upstreams {
      for address in settings.addresses.map(\.inOneSpelling) {
        for cookie in settings.cookiesOfClients where cookie.path == "/" {
          guard known[address, default: []].insert(cookie.name).inserted else { continue }
          named[address, default: []].append((cookie: cookie.name, upstream: settings.name))
        }
      }
    }
    return upstreams.compactMap { settings, path -> ConfigurationDiagnostic? in
      let own = Set(settings.cookies.cookies.map(\.name))
      for address in settings.addresses {
        guard let other = named[address.inOneSpelling]?.first(where: { !own.contains($0.cookie) }) else { continue }
        let key = ["end_cookies", "urls"].map { path.appending($0) }.first { context.isPresent($0) }
        return context.warning(
          atKey: key ?? path.appending("url"),
          "the upstreams \(other.upstream) and \(settings.name) have the same address, but only \(other.upstream) has "
            + "\(context.concealing(other.cookie)) in end_cookies: \(settings.name) forwards it with the code that "
            + "binds it to an account, and one without a code whatever the account is",
          remedy: "write the same end_cookies in all upstreams of one application")
      }
      return nil
    }
  }
}
