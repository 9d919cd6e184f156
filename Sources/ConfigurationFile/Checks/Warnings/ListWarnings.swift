import AccessPolicy
import DataPlane
import Sessions
import WebFormats

/// Finds entries of lists that are there twice, and addresses of which a deny list matches one spelling only.
struct ListWarnings {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext

  var all: [ConfigurationDiagnostic] { repeated + beyondASCII }

  /// A list with its key; its entries in the form in which they are compared.
  private typealias List = (path: NodePath, entries: [[UInt8]])

  /// `[access]` or a route, with its lists.
  private typealias Rules = (path: NodePath, allowed: AccessLists, denied: DenyLists, networks: [NetworkPrefix])

  // MARK: Repetitions

  /// The first repeated entry of each list. Other lists are checked where a repetition is an error.
  private var repeated: [ConfigurationDiagnostic] {
    (rules.flatMap { Self.lists(of: $0) } + otherLists).compactMap { list -> ConfigurationDiagnostic? in
      var seen: Set<[UInt8]> = []
      guard let index = list.entries.firstIndex(where: { !seen.insert($0).inserted }) else { return nil }
      return context.warning(
        atKey: list.path.appending(index), "\(list.path) lists this twice", remedy: "remove one of them")
    }
  }

  private static func lists(of rules: Rules) -> [List] {
    let (allowed, denied) = (rules.allowed, rules.denied)
    let exact = [
      ("allow_subjects", allowed.subjects), ("allow_organizations", allowed.organizations),
      ("allow_groups", allowed.groups), ("deny_groups", denied.groups), ("deny_subjects", denied.subjects),
      ("networks", rules.networks.map(\.description)),
    ]
    let folded = [
      ("allow_emails", allowed.emails), ("allow_email_domains", allowed.emailDomains), ("deny_emails", denied.emails),
    ]
    var lists: [List] = []
    for (key, entries) in exact { lists.append((rules.path.appending(key), entries.map { Array($0.utf8) })) }
    for (key, entries) in folded {
      lists.append((rules.path.appending(key), entries.map { $0.utf8.map(\.asciiLowercased) }))
    }
    return lists
  }

  private var otherLists: [List] {
    var lists: [(path: NodePath, entries: [String])] = [
      (NodePath("access.managers"), configuration.access.managers),
      (NodePath("session.clear_site_data"), configuration.session.clearedData.map(\.rawValue)),
      (NodePath("identity.keep_headers"), configuration.identityHeaders.keptHeaders.map(IdentityHeaderText.folded)),
    ]
    let listeners =
      [(configuration.listener.main, NodePath("listen"))]
      + configuration.listener.others.enumerated().map { ($0.element, ListenerChecks.path(at: $0.offset)) }
    for (acceptor, path) in listeners {
      lists.append((path.appending("trusted_proxies"), acceptor.trustedProxies.map(\.description)))
      lists.append((path.appending("proxy_protocol_from"), acceptor.proxyProtocolPeers.map(\.description)))
    }
    for (settings, path) in ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices)) {
      lists.append((path.appending("lenient"), settings.lenient.map(\.rawValue)))
      lists.append((path.appending("remove_headers"), settings.removedHeaders.map(IdentityHeaderText.folded)))
    }
    return lists.map { list -> List in (list.path, list.entries.map { Array($0.utf8) }) }
  }

  private var rules: [Rules] {
    let access = configuration.access
    let path = NodePath(ConfigurationSchema.access.name)
    var rules: [Rules] = [(path, access.lists ?? AccessLists(), access.conditions.denied, access.networks)]
    for (index, route) in configuration.routes.enumerated() {
      let allowed = if case .lists(let lists) = route.access { lists } else { AccessLists() }
      rules.append((places.route(index), allowed, route.conditions.denied, route.networks))
    }
    return rules
  }

  // MARK: Addresses beyond ASCII

  /// Refused addresses with characters beyond ASCII, which are neither folded nor normalized: another spelling that
  /// reaches the same mailbox is not refused. In allow lists such an entry admits too few users, which they notice.
  private var beyondASCII: [ConfigurationDiagnostic] {
    var lists = rules.map { ($0.path.appending("deny_emails"), $0.denied.emails) }
    let groups = rules.flatMap(\.denied.groups)
    for index in configuration.groups.indices {
      let group = configuration.groups[index]
      guard groups.contains(where: { $0.utf8.elementsEqual(group.name.utf8) }) else { continue }
      lists.append((GroupChecks.path(at: index).appending("members"), group.members))
    }
    return lists.compactMap { path, addresses -> ConfigurationDiagnostic? in
      guard let index = addresses.firstIndex(where: { $0.utf8.contains { $0 >= 0x80 } }) else { return nil }
      return context.warning(
        atKey: path.appending(index),
        "entry \(index + 1) of \(path) has letters beyond ASCII, which match in this spelling only: in another case or "
          + "encoding the address is not refused",
        remedy: "write it as `cordon accounts list` shows it, or use `cordon accounts ban`, which refuses the account")
    }
  }
}
