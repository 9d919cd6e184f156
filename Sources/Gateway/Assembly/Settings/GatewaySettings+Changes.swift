internal import DataPlane
internal import IdentityAssertion
internal import Operations
internal import Sessions

extension GatewaySettings {
  /// The tables in which other settings differ from these, for people. The contents of the files that they name are not
  /// compared.
  func changes(to next: GatewaySettings) -> [String] {
    var changes: [String] = []
    func compare(_ name: String, isSame: Bool) { if !isSame { changes.append(name) } }
    compare("public_url", isSame: publicAddress.origin == next.publicAddress.origin)
    compare("path_prefix", isSame: publicAddress.prefix == next.publicAddress.prefix)
    // Kept with the listeners, and configured beside `limits.clients.sign_ins`.
    var listen = next.listener
    listen.limits.connectionsPerClient = listener.limits.connectionsPerClient
    compare("listen", isSame: listener == listen && publicAddress.hosts == next.publicAddress.hosts)
    compare("limits", isSame: signInRate == next.signInRate && listen == next.listener)
    compare("admin", isSame: admin == next.admin)
    compare("headers", isSame: responseHeaders == next.responseHeaders)
    compare("upstream", isSame: upstreams == next.upstreams)
    compare("apple", isSame: apple == next.apple && appleProxy == next.appleProxy)
    compare("session", isSame: session == next.session)
    compare("revalidation", isSame: revalidation == next.revalidation)
    compare("store", isSame: store == next.store)
    compare("identity", isSame: identity == next.identity)
    compare("assertion", isSame: assertion == next.assertion)
    compare("notifications", isSame: notificationRelay == next.notificationRelay)
    compare("native", isSame: native == next.native)
    compare("verify", isSame: verify == next.verify)
    compare("access", isSame: routing.access == next.routing.access)
    compare("group", isSame: routing.groups == next.routing.groups)
    compare("host", isSame: routing.sites == next.routing.sites)
    compare("route", isSame: routing.routes == next.routing.routes)
    compare("pages", isSame: pages == next.pages && button == next.button)
    compare("log", isSame: log == next.log)
    compare("shutdown", isSame: drain == next.drain)
    return changes
  }
}
