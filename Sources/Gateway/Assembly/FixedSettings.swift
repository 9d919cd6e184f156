internal import DataPlane
internal import IdentityAssertion
internal import Operations
internal import Sessions

/// Settings that a running gateway cannot change, because they are bound, opened or started with the process. A
/// configuration that changes any of them is refused as a whole, and never applied in part.
enum FixedSettings {
  /// The reasons that `next` cannot replace `current` while the gateway runs: one line for each key, with the remedy.
  static func problems(from current: GatewaySettings, to next: GatewaySettings) -> [String] {
    var problems: [String] = []
    func fixed(_ key: String, _ old: some Equatable & CustomStringConvertible, _ new: some CustomStringConvertible) {
      if old.description != new.description { problems.append(refusal(key, "from \(old) to \(new)")) }
    }
    fixed("listen.address", current.listener.main.address, next.listener.main.address)
    fixed("listener", described(current.listener.others), described(next.listener.others))
    fixed("admin.address", current.adminAddress, next.adminAddress)
    fixed("listen.workers", current.workers, next.workers)
    fixed("store.connections", current.store.connections, next.store.connections)
    fixed("store.notify", current.store.notifies, next.store.notifies)
    fixed("session.cookie_name", current.session.cookies.session, next.session.cookies.session)
    if current.store.location != next.store.location { problems.append(refusal("store.url", "to another store")) }
    if (current.listener.main.tls == nil) != (next.listener.main.tls == nil) {
      problems.append(
        refusal("listen.tls_certificate_file", next.listener.main.tls == nil ? "from TLS to cleartext" : "to TLS"))
    }
    // The mode of the socket was set at its creation: without a token it would admit everybody that the umask admits.
    if case .unix = next.adminAddress, (current.admin.tokenFile == nil) != (next.admin.tokenFile == nil) {
      problems.append(refusal("admin.token_file", "on a Unix socket, whose permission was set at the start"))
    }
    return problems
  }

  /// The fixed settings of the other listeners.
  private static func described(_ others: [AcceptorSettings]) -> String {
    others.isEmpty
      ? "none"
      : others.map { "\($0.name) \($0.address)\($0.tls == nil ? "" : " with TLS")" }.joined(separator: ", ")
  }

  private static func refusal(_ key: String, _ change: String) -> String {
    "\(key) cannot change while the gateway runs (\(change)); restart it, or put the old value back"
  }

  /// The tables in which two configurations differ, for people. The contents of the files that they name are not
  /// compared.
  static func changes(from current: GatewaySettings, to next: GatewaySettings) -> [String] {
    var changes: [String] = []
    func compare(_ name: String, _ isSame: Bool) { if !isSame { changes.append(name) } }
    compare("public_url", current.origin == next.origin)
    compare("path_prefix", current.prefix == next.prefix)
    // Kept with the listeners, and configured beside `limits.clients.sign_ins`.
    var listener = next.listener
    listener.limits.connectionsPerClient = current.listener.limits.connectionsPerClient
    compare("listen", current.listener == listener && current.hosts == next.hosts)
    compare("limits", current.signInRate == next.signInRate && listener == next.listener)
    compare("admin", current.admin == next.admin)
    compare("headers", current.responseHeaders == next.responseHeaders)
    compare("upstream", current.upstream == next.upstream && current.upstreams == next.upstreams)
    compare("apple", current.apple == next.apple)
    compare("session", current.session == next.session)
    compare("revalidation", current.revalidation == next.revalidation)
    compare("store", current.store == next.store)
    compare("identity", current.identity == next.identity)
    compare("assertion", current.assertion == next.assertion)
    compare("notifications", current.notificationRelay == next.notificationRelay)
    compare("native", current.native == next.native)
    compare("verify", current.verify == next.verify)
    compare("access", current.access == next.access)
    compare("group", current.groups == next.groups)
    compare("host", current.sites == next.sites)
    compare("route", current.routes == next.routes)
    compare("pages", current.pages == next.pages && current.button == next.button)
    compare("log", current.log == next.log)
    compare("shutdown", current.drain == next.drain)
    return changes
  }
}
