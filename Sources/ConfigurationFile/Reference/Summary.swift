import AccessPolicy
import AppleIdentity
import DataPlane
import Operations
import Pages
import Sessions
import WebFormats

extension Configuration {
  /// A summary of a valid configuration: the name and settings of each part, without secrets.
  package var summary: [(part: String, text: String)] {
    var lines: [(part: String, text: String)] = [
      ("public", "\(publicURL), the gateway's own pages under \(pathPrefix)"),
      ("listen", text(of: listener.main) + aliasesText + proxiesText),
      ("admin", "\(adminAddress)\(adminText)"),
      ("upstream", text(of: upstream)),
      ("apple", "\(apple.clientID), team \(apple.teamID), key \(apple.keyID)\(appleText)"),
      (
        "session",
        "\(DurationText.format(session.lifetime)), \(DurationText.format(session.idleTimeout)) without a request, "
          + counted(session.secretFiles.count, "secret")
      ),
      (
        "revalidation",
        "every \(DurationText.format(revalidation.interval)), "
          + "then \(DurationText.format(revalidation.grace)) of grace"
      ),
      ("store", "\(StoreURL.format(store.location)), \(DurationText.format(store.outageGrace)) of grace"),
      ("identity", identityHeaders.headers.map { "\($0.name) = \($0.source)" }.joined(separator: ", ")),
    ]
    if !nativeText.isEmpty { lines.append(("native", nativeText)) }
    if access != AccessSettings() { lines.append(("access", accessText)) }
    if !groups.isEmpty { lines.append(("groups", groupsText)) }
    lines.append(("routes", routesText))
    let pages = pages.showSignInPage ? "sign-in page first" : "straight to Apple"
    lines.append(("pages", (self.pages.applicationName.map { "\($0), " } ?? "") + pages + templatesText))
    lines.append(
      ("log", "\(log.level.rawValue), \(log.accessLog ? "with" : "without") a line for each request\(auditText)"))
    for host in hosts {
      lines.append(("host", "\(host.host.origin.authority): \(host.host.upstream)\(text(of: host))"))
    }
    for other in listener.others { lines.append(("listener", "\(other.name): \(text(of: other))")) }
    for other in upstreams { lines.append(("upstreams", "\(other.name): \(text(of: other))")) }
    return lines
  }

  private func text(of host: HostConfiguration) -> String {
    (host.applicationName.map { ", \($0)" } ?? "")
      + (host.templates.map { ", with your own \($0)" } ?? "")
  }

  /// The commands about accounts and access need a token, or a Unix socket.
  private var adminText: String {
    if admin.tokenFile != nil { return ", administration by token" }
    if case .unix = adminAddress { return "" }
    return ", health and metrics only"
  }

  private var auditText: String {
    guard log.auditLog else { return ", without audit" }
    return log.auditEvents.map { ", audit of \($0.map(\.rawValue).joined(separator: ", "))" } ?? ""
  }

  private func text(of acceptor: AcceptorSettings) -> String {
    guard let tls = acceptor.tls else { return "\(acceptor.address), cleartext" }
    let count = tls.certificates.count > 1 ? " with \(tls.certificates.count) certificates" : ""
    let clients = tls.clients.map {
      $0.areRequired ? ", for clients with a certificate" : ", client certificates verified"
    }
    return "\(acceptor.address), TLS\(count)\(clients ?? "")"
  }

  private func text(of upstream: UpstreamSettings) -> String {
    let addresses = upstream.addresses.map(\.description).joined(separator: ", ")
    guard let check = upstream.check else { return addresses }
    return "\(addresses), \(check.path) asked for every \(DurationText.format(check.interval))"
  }

  private var aliasesText: String { aliases.isEmpty ? "" : ", also \(aliases.joined(separator: ", "))" }

  private var proxiesText: String {
    guard !listener.main.trustedProxies.isEmpty else { return "" }
    return ", behind \(listener.main.trustedProxies.map(\.description).joined(separator: ", "))"
  }

  private var appleText: String {
    let scopes = apple.scopes.isEmpty ? "no scopes" : apple.scopes.map(\.rawValue).joined(separator: " and ")
    let elsewhere = apple.isApple ? "" : ", at \(apple.baseURL) (not Apple)"
    let proxy = appleProxy.map { ", through the proxy \($0)" } ?? ""
    return ", asks for \(scopes)\(elsewhere)\(proxy)"
  }

  private var templatesText: String {
    pages.templates == OwnTemplates() ? "" : ", with your own \(pages.templates)"
  }

  private var nativeText: String {
    var parts: [String] = []
    if !apple.nativeClientIDs.isEmpty { parts.append("tokens of \(apple.nativeClientIDs.joined(separator: ", "))") }
    if !native.returnSchemes.isEmpty { parts.append("back to \(native.returnSchemes.joined(separator: ", "))") }
    if native.acceptsBearer { parts.append("bearer tokens") }
    return parts.joined(separator: "; ")
  }

  private var routesText: String {
    guard !routes.isEmpty else {
      return access == AccessSettings() ? "everything for those who are signed in" : "none, everything by [access]"
    }
    return routes.map { route in
      let hasConditions = !route.conditions.isEmpty || !route.networks.isEmpty || route.maxAge ?? 0 > 0
      let access =
        switch route.access {
        case .public: "public"
        case .signedIn: hasConditions ? "rules" : "signed in"
        case .lists: "rules"
        case .signOut: "signs out"
        case .deny: "deny"
        case nil: hasConditions ? "as above it, and conditions" : "as above it"
        }
      let methods = route.methods.map { "\($0.joined(separator: "|")) " } ?? ""
      let host =
        switch route.host {
        case .publicURL: ""
        case .named(let name): name
        case .all: "*"
        }
      return "\(methods)\(host)\(route.path)\(route.match == .exact ? " exactly" : "") \(access)"
        + (route.upstream.map { " (\($0))" } ?? "")
    }.joined(separator: ", ")
  }

  private var accessText: String {
    let hasConditions = !access.conditions.isEmpty || !access.networks.isEmpty || access.maxAge > 0
    let rest =
      (hasConditions ? ", with conditions" : "") + (access.requests ? ", others may ask for access" : "")
    guard let lists = access.lists else { return "everybody who is signed in" + rest }
    let parts = [
      (lists.subjects.count, "subject"), (lists.emails.count, "address"), (lists.emailDomains.count, "domain"),
      (lists.organizations.count, "organization"), (lists.groups.count, "group"),
    ]
    let counts = parts.filter { $0.0 > 0 }.map { count, word in
      "\(count) \(count == 1 ? word : word == "address" ? "addresses" : word + "s")"
    }
    return counts.joined(separator: ", ") + rest
  }

  /// Each group with its members, the first few where there are many.
  private var groupsText: String {
    let shown = groups.prefix(groups.count <= 6 ? 6 : 5)
    let parts = shown.enumerated().map { index, group in
      let count = group.members.count + (index < membersInFiles.count ? membersInFiles[index] : 0)
      return "\(group.name) (\(count == 0 ? "members at run time" : counted(count, "member")))"
    }
    let rest = groups.count > shown.count ? ["\(groups.count - shown.count) more"] : []
    return (parts + rest).joined(separator: ", ")
  }

  private func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
}
