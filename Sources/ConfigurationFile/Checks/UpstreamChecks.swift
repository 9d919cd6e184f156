import AccessPolicy
import DataPlane
import Sessions
import WebFormats

/// Turns what a document says of upstreams into settings.
enum UpstreamChecks {
  static func check(
    _ drafts: [DocumentReader.Element<UpstreamBuilder>], into draft: inout ConfigurationBuilder,
    _ reading: inout DecodingContext
  ) {
    draft.configuration.upstream.addresses = addresses(
      reading.good.contains("upstream.url") ? draft.upstreamURL : nil, draft.upstreamURLs, at: NodePath("upstream"),
      listen: listen(draft, reading), &reading)
    checkTLS(draft.upstreamTLS, at: NodePath("upstream"), &reading)
    draft.configuration.upstream.tls = draft.upstreamTLS.settings
    if let path = draft.checkPath {
      draft.check.path = path
      draft.configuration.upstream.check = draft.check
    } else if !drafts.contains(where: { $0.draft.checkPath != nil }), !reading.isThere("upstream.check.path"),
      let key = ["interval", "timeout", "healthy_after", "unhealthy_after"]
        .first(where: { reading.isThere("upstream.check.\($0)") })
    {
      reading.complain(
        atKey: NodePath("upstream.check.\(key)"), "upstream.check has no path, so health checks are disabled",
        remedy: "write path = \"/health\" under [upstream.check], or leave the table out")
    }
    check(draft.configuration.upstream.cookies, at: NodePath("upstream"), &reading)
    draft.upstreamForwarding.apply(to: &draft.configuration.upstream)
    let headers = draft.upstreamForwarding.headers(of: UpstreamSettings.defaultName)
    if !headers.isEmpty { draft.configuration.identityHeaders.upstreams.append(headers) }
    for (index, other, _) in drafts { add(other, at: index, to: &draft, &reading) }
  }

  private static func add(
    _ other: UpstreamBuilder, at index: Int, to draft: inout ConfigurationBuilder, _ reading: inout DecodingContext
  ) {
    let path = NodePath(ConfigurationSchema.upstreams.name).appending(index)
    if isSame(other.name, UpstreamSettings.defaultName) {
      reading.complain(
        at: path.appending("name"), "\"default\" is the name of [upstream]", remedy: "choose another name")
    } else if draft.configuration.upstreams.contains(where: { isSame($0.name, other.name) }) {
      reading.complain(
        at: path.appending("name"), "this upstream name is already used",
        remedy: "choose another name, or list all addresses of one upstream in its urls")
    }
    if other.url == nil, other.urls == nil {
      reading.complain(
        atKey: path, "this upstream has no url", remedy: "write url = \"http://127.0.0.1:3001\", or where it listens")
    }
    var settings = draft.configuration.upstream
    settings.name = other.name
    settings.speaks = other.speaks
    settings.lenient = other.lenient
    settings.cookies = other.cookies
    other.forwarding.apply(to: &settings)
    let headers = other.forwarding.headers(of: other.name)
    if !headers.isEmpty { draft.configuration.identityHeaders.upstreams.append(headers) }
    if let limit = other.maximumConnections { settings.maximumConnections = limit }
    if let limit = other.queueLimit { settings.queueLimit = limit }
    settings.addresses = addresses(other.url, other.urls, at: path, listen: listen(draft, reading), &reading)
    checkTLS(other.tls, at: path, &reading)
    check(other.cookies, at: path, &reading)
    settings.tls = other.tls.settings
    settings.check = other.checkPath.map { checkPath in
      var check = draft.check
      check.path = checkPath
      return check
    }
    draft.configuration.upstreams.append(settings)
  }

  private static func checkTLS(_ tls: UpstreamTLSBuilder, at path: NodePath, _ reading: inout DecodingContext) {
    let (certificate, key) = (path.appending("tls_certificate_file"), path.appending("tls_private_key_file"))
    if tls.certificateFile != nil, !reading.isThere(key) {
      reading.complain(atKey: certificate, "\(certificate) is there, but no \(key)", remedy: "write both or neither")
    } else if tls.privateKeyFile != nil, !reading.isThere(certificate) {
      reading.complain(atKey: key, "\(key) is there, but no \(certificate)", remedy: "write both or neither")
    }
  }

  private static func check(
    _ settings: UpstreamCookieSettings, at path: NodePath, _ reading: inout DecodingContext
  ) {
    let list = path.appending("end_cookies")
    if settings.cookies.count > UnboundCookies.limit {
      reading.complain(
        at: list, "\(list) names \(settings.cookies.count) cookies",
        remedy: "write at most \(UnboundCookies.limit): only session cookies belong here")
    }
    for (index, cookie) in settings.cookies.enumerated() {
      if settings.cookies[..<index].contains(cookie) {
        reading.complain(at: list.appending(index), "\(list) names this cookie twice", remedy: "remove one of them")
      }
    }
  }

  /// The gateway's own addresses, as far as they are known.
  private static func listen(_ draft: ConfigurationBuilder, _ reading: DecodingContext) -> [BindAddress] {
    let listener = draft.configuration.listener
    return (reading.good.contains("listen.address") ? [listener.main.address] : []) + listener.others.map(\.address)
  }

  /// Looks at the name of an upstream that something else states.
  static func checkName(
    _ name: String, at path: NodePath, _ configuration: Configuration, _ reading: inout DecodingContext
  ) {
    let names = [UpstreamSettings.defaultName] + configuration.upstreams.map(\.name)
    guard !names.contains(where: { isSame($0, name) }) else { return }
    let nearest = NearestKey.find(name, among: names)
    reading.complain(
      at: path, "there is no upstream \(WrittenText(value: name, written: name).shown)",
      remedy: nearest.map { "did you mean \"\($0)\"?" }
        ?? "write [[upstreams]] with name = \"\(name)\" and its url, or remove the key")
  }

  /// The name of an upstream as routes state it.
  static func routeName(_ name: String) -> String {
    isSame(name, UpstreamSettings.defaultName) ? RouteSettings.defaultUpstream : name
  }

  /// Names are compared as bytes.
  static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

  private static func addresses(
    _ url: UpstreamAddress?, _ urls: [UpstreamAddress]?, at path: NodePath, listen: [BindAddress],
    _ reading: inout DecodingContext
  ) -> [UpstreamAddress] {
    let list = path.appending("urls")
    if url != nil, urls != nil {
      reading.complain(
        atKey: list, "\(path) has a url and urls", remedy: "write only one of them: urls has all addresses")
    }
    if let urls, urls.isEmpty {
      reading.complain(at: list, "\(list) names no address", remedy: "write the application's address")
    }
    if let urls, urls.count > UpstreamSettings.addressLimit {
      reading.complain(
        at: list, "\(list) names \(urls.count) addresses",
        remedy: "write at most \(UpstreamSettings.addressLimit), or a name that has many addresses")
    }
    var seen: Set<UpstreamAddress> = []
    let places = (urls ?? []).indices.map { list.appending($0) }
    for (address, place) in zip(urls ?? [], places) + (url.map { [($0, path.appending("url"))] } ?? []) {
      if !seen.insert(address).inserted, place.parent == list {
        reading.complain(at: place, "\(list) names this twice", remedy: "remove one of them")
      }
      if listen.contains(where: { CombinationChecks.isLoop(address, $0) }) {
        reading.complain(
          at: place, "\(place) is the gateway's own listener",
          remedy: "write the application's address, with another port")
      }
    }
    return urls ?? url.map { [$0] } ?? []
  }
}
