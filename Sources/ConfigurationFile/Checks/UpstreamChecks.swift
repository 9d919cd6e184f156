import AccessPolicy
import DataPlane
import Sessions
import WebFormats

/// Turns the upstreams of a document into settings.
enum UpstreamChecks {
  static func check(
    _ builders: [DocumentReader.Element<UpstreamBuilder>], into builder: inout ConfigurationBuilder,
    _ context: inout DecodingContext
  ) {
    builder.configuration.upstream.addresses = addresses(
      context.validKeys.contains("upstream.url") ? builder.upstreamURL : nil, builder.upstreamURLs,
      at: NodePath("upstream"),
      own: ownAddresses(builder, context), &context)
    checkTLS(builder.upstreamTLS, of: builder.configuration.upstream.addresses, at: NodePath("upstream"), &context)
    builder.configuration.upstream.tls = builder.upstreamTLS.settings
    if let path = builder.checkPath {
      builder.check.path = path
      builder.configuration.upstream.check = builder.check
    } else if !builders.contains(where: { $0.builder.checkPath != nil }), !context.isPresent("upstream.check.path"),
      let key = ["interval", "timeout", "healthy_after", "unhealthy_after"]
        .first(where: { context.isPresent("upstream.check.\($0)") })
    {
      context.report(
        atKey: NodePath("upstream.check.\(key)"), "upstream.check has no path, so health checks are disabled",
        remedy: "write path = \"/health\" under [upstream.check], or leave the table out")
    }
    check(
      builder.configuration.upstream.cookies, beside: builder.configuration.session.cookies, at: NodePath("upstream"),
      &context)
    builder.upstreamForwarding.apply(to: &builder.configuration.upstream)
    let headers = builder.upstreamForwarding.headers(of: UpstreamSettings.defaultName)
    if !headers.isEmpty { builder.configuration.identityHeaders.upstreams.append(headers) }
    for (index, other, _) in builders { add(other, at: index, to: &builder, &context) }
    SharedApplications.unite(&builder.configuration, upstreams: builders.map(\.index), &context)
  }

  static func path(at index: Int) -> NodePath { NodePath(ConfigurationSchema.upstreams.name).appending(index) }

  private static func add(
    _ other: UpstreamBuilder, at index: Int, to builder: inout ConfigurationBuilder, _ context: inout DecodingContext
  ) {
    let path = path(at: index)
    if isSame(other.name, UpstreamSettings.defaultName) {
      context.report(
        at: path.appending("name"), "\"default\" is the name of [upstream]", remedy: "choose another name")
    } else if builder.configuration.upstreams.contains(where: { isSame($0.name, other.name) }) {
      context.report(
        at: path.appending("name"), "this upstream name is already used",
        remedy: "choose another name, or list all addresses of one upstream in its urls")
    }
    if other.url == nil, other.urls == nil {
      context.report(
        atKey: path, "this upstream has no url", remedy: "write url = \"http://127.0.0.1:3001\", or where it listens")
    }
    var settings = builder.configuration.upstream
    settings.name = other.name
    settings.speaks = other.speaks
    settings.lenient = other.lenient
    settings.cookies = other.cookies
    other.forwarding.apply(to: &settings)
    let headers = other.forwarding.headers(of: other.name)
    if !headers.isEmpty { builder.configuration.identityHeaders.upstreams.append(headers) }
    other.timeouts.apply(to: &settings.timeouts)
    if let limit = other.idleConnections { settings.idleConnectionsPerLoop = limit }
    if let limit = other.maximumConnections { settings.maximumConnections = limit }
    if let limit = other.queueLimit { settings.queueLimit = limit }
    settings.addresses = addresses(other.url, other.urls, at: path, own: ownAddresses(builder, context), &context)
    checkTLS(other.tls, of: settings.addresses, at: path, &context)
    check(other.cookies, beside: builder.configuration.session.cookies, at: path, &context)
    settings.tls = other.tls.settings
    settings.check = other.checkPath.map { checkPath in
      var check = builder.check
      check.path = checkPath
      return check
    }
    builder.configuration.upstreams.append(settings)
  }

  /// Checks that there are both halves of a client certificate, and that settings for TLS come with https: addresses
  /// only. Otherwise requests would be sent in cleartext where the operator expects a verified connection.
  private static func checkTLS(
    _ tls: UpstreamTLSBuilder, of addresses: [UpstreamAddress], at path: NodePath, _ context: inout DecodingContext
  ) {
    let (certificate, key) = (path.appending("tls_certificate_file"), path.appending("tls_private_key_file"))
    if tls.certificateFile != nil, !context.isPresent(key) {
      context.report(atKey: certificate, "\(certificate) is there, but no \(key)", remedy: "write both or neither")
    } else if tls.privateKeyFile != nil, !context.isPresent(certificate) {
      context.report(atKey: key, "\(key) is there, but no \(certificate)", remedy: "write both or neither")
    }
    let places = context
    let first = [path.appending("tls_ca_file"), path.appending("tls_server_name"), certificate, key]
      .filter { places.isPresent($0) }.min { places.location(of: $0) < places.location(of: $1) }
    let cleartext = addresses.first { if case .tcp(_, _, true) = $0 { false } else { true } }
    if let first, let cleartext {
      context.report(
        atKey: first, "\(first) is for https:, and \(context.concealing(cleartext.description)) is not",
        remedy: "write https:// in the address, or remove the keys that begin with tls_")
    }
  }

  /// - Parameter gateway: the names of the gateway's own cookies.
  private static func check(
    _ settings: UpstreamCookieSettings, beside gateway: CookieNames, at path: NodePath, _ context: inout DecodingContext
  ) {
    let list = path.appending("end_cookies")
    if settings.cookies.count > UnboundCookies.limit {
      context.report(
        at: list, "\(list) names \(settings.cookies.count) cookies",
        remedy: "write at most \(UnboundCookies.limit): only session cookies belong here")
    }
    for (index, cookie) in settings.cookies.enumerated() {
      if settings.cookies[..<index].contains(cookie) {
        context.report(at: list.appending(index), "\(list) names this cookie twice", remedy: "remove one of them")
      }
      if isGatewayCookie(cookie.name, gateway) {
        context.report(
          at: list.appending(index),
          "\(list): \(context.concealing(cookie.name)) is a cookie of the gateway, by session.cookie_name",
          remedy: "remove it: the gateway ends its own cookies")
      }
    }
  }

  /// Whether a cookie has the name of the session cookie, or begins with it and a hyphen. Such cookies are neither
  /// forwarded to applications nor accepted from them, whatever the case of their letters.
  private static func isGatewayCookie(_ name: String, _ gateway: CookieNames) -> Bool {
    let (name, session) = (name.utf8.map(\.asciiLowercased), gateway.session.utf8.map(\.asciiLowercased))
    return name == session || name.starts(with: session + [UInt8(ascii: "-")])
  }

  /// The gateway's own addresses, as far as they are known, with a name for each.
  private static func ownAddresses(
    _ builder: ConfigurationBuilder, _ context: DecodingContext
  ) -> [(address: BindAddress, name: String)] {
    let configuration = builder.configuration
    let listeners =
      (context.validKeys.contains("listen.address") ? [configuration.listener.main] : [])
      + configuration.listener.others
    // Permission to open the socket of the admin listener is the right to administer, and the gateway has it.
    return listeners.map { ($0.address, "the gateway's own listener") }
      + [(configuration.adminAddress, "the gateway's admin listener")]
  }

  /// Checks a reference to an upstream by name.
  static func checkName(
    _ name: String, at path: NodePath, _ configuration: Configuration, _ context: inout DecodingContext
  ) {
    let names = [UpstreamSettings.defaultName] + configuration.upstreams.map(\.name)
    guard !names.contains(where: { isSame($0, name) }) else { return }
    let nearest = NearestKey.find(name, among: names)
    context.report(
      at: path, "there is no upstream \(WrittenText(value: name, written: name).shown)",
      remedy: nearest.map { "did you mean \"\($0)\"?" }
        ?? "write [[upstreams]] with name = \"\(name)\" and its url, or remove the key")
  }

  /// The name of an upstream in route settings.
  static func routeName(_ name: String) -> String {
    isSame(name, UpstreamSettings.defaultName) ? RouteSettings.defaultUpstream : name
  }

  /// Whether two names of upstreams are the same, compared as bytes.
  static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

  private static func addresses(
    _ url: UpstreamAddress?, _ urls: [UpstreamAddress]?, at path: NodePath,
    own: [(address: BindAddress, name: String)], _ context: inout DecodingContext
  ) -> [UpstreamAddress] {
    let list = path.appending("urls")
    if url != nil, urls != nil {
      context.report(
        atKey: list, "\(path) has a url and urls", remedy: "write only one of them: urls has all addresses")
    }
    if let urls, urls.isEmpty {
      context.report(at: list, "\(list) names no address", remedy: "write the application's address")
    }
    if let urls, urls.count > UpstreamSettings.addressLimit {
      context.report(
        at: list, "\(list) names \(urls.count) addresses",
        remedy: "write at most \(UpstreamSettings.addressLimit), or a name that has many addresses")
    }
    var seen: Set<UpstreamAddress> = []
    let places = (urls ?? []).indices.map { list.appending($0) }
    for (address, place) in zip(urls ?? [], places) + (url.map { [($0, path.appending("url"))] } ?? []) {
      if !seen.insert(address).inserted, place.parent == list {
        context.report(at: place, "\(list) lists this twice", remedy: "remove one of them")
      }
      if let loop = own.first(where: { address.leads(to: $0.address) }) {
        context.report(
          at: place, "\(place) is \(loop.name)",
          remedy: "write the application's address, with another port")
      }
    }
    return urls ?? url.map { [$0] } ?? []
  }
}
