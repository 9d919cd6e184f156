internal import DataPlane
internal import Sessions
internal import WebFormats

/// The session cookies of the applications (`end_cookies`), by upstream.
struct EndCookies: Sendable {
  /// By the numbers of `RouteDecision.upstream`; nil for an upstream without such cookies.
  private let upstreams: [Upstream?]
  private let keyring: SessionKeyring
  /// The bindings of requests without an identity.
  private let anonymous: [CookieBinding?]
  /// Whether no upstream has any.
  let isEmpty: Bool

  /// The settings of one upstream. Those with the same `application` lead to the same one.
  typealias UpstreamCookies = (upstream: String, application: Int, cookies: UpstreamCookieSettings)

  private struct Upstream: Sendable {
    let name: String
    let application: Int
    let settings: UpstreamCookieSettings
    /// The names of its cookies, each once: a cookie may be deleted on several paths.
    let names: [String]
    let unbound: UnboundCookies

    /// Whether a cookie is known to be set without `HttpOnly`.
    func isUnbound(_ name: String) -> Bool { names.firstIndex(of: name).map { unbound.contains($0) } ?? false }
  }

  /// - Parameters:
  ///   - settings: of each upstream that routes name, in the order of `RouteTable.upstreams`.
  ///   - previous: the previous ones, at a reload. The unbound cookies that were recorded for an application are kept,
  ///     even if it has another upstream or other cookies besides.
  ///   - report: is called once for each cookie that is set without `HttpOnly`.
  init(
    _ settings: [UpstreamCookies], _ keyring: SessionKeyring,
    after previous: EndCookies? = nil, report: @escaping @Sendable (_ upstream: String, _ cookie: String) -> Void
  ) {
    let known = (previous?.upstreams ?? []).compactMap(\.self)
    var upstreams: [Upstream?] = []
    for (name, application, cookies) in settings {
      guard !cookies.isEmpty else {
        upstreams.append(nil)
        continue
      }
      // A cookie that was set by one upstream comes back by the others of the same application, too.
      let shared = upstreams.lazy.compactMap(\.self).first {
        $0.application == application && $0.settings == cookies
      }
      var names: [String] = []
      for cookie in cookies.cookies where !names.contains(cookie.name) { names.append(cookie.name) }
      let before = known.filter { known in
        settings.contains { $0.application == application && $0.upstream.utf8.elementsEqual(known.name.utf8) }
      }
      upstreams.append(
        Upstream(
          name: name, application: application, settings: cookies, names: names,
          unbound: shared?.unbound ?? Self.unbound(names, after: before) { [names] in report(name, names[$0]) }))
    }
    self.upstreams = upstreams
    self.keyring = keyring
    isEmpty = upstreams.allSatisfy { $0 == nil }
    anonymous = upstreams.map { $0.map { Self.binding(of: nil, $0, keyring) } }
  }

  /// The record of an application's unbound cookies.
  /// - Parameter before: its upstreams in the previous configuration.
  private static func unbound(
    _ names: [String], after before: [Upstream], report: @escaping @Sendable (_ cookie: Int) -> Void
  ) -> UnboundCookies {
    // Requests that are under way add to the previous record.
    if let first = before.first, before.allSatisfy({ $0.unbound === first.unbound }), first.names == names {
      return first.unbound
    }
    let found = names.indices.filter { cookie in before.contains { $0.isUnbound(names[cookie]) } }
    return UnboundCookies(found, report: report)
  }

  /// The number of upstreams with such cookies.
  var count: Int { upstreams.count { $0 != nil } }

  /// The binding of an account's cookies on an upstream; nil if the upstream has none.
  func binding(of subject: Subject, on upstream: Int) -> CookieBinding? {
    guard upstream < upstreams.count else { return nil }
    return upstreams[upstream].map { Self.binding(of: subject, $0, keyring) }
  }

  /// The binding for requests without an identity.
  func bindingOfNobody(on upstream: Int) -> CookieBinding? { upstream < anonymous.count ? anonymous[upstream] : nil }

  private static func binding(
    of subject: Subject?, _ upstream: Upstream, _ keyring: SessionKeyring
  ) -> CookieBinding {
    CookieBinding(
      upstream.names.map { CookieBinding.Cookie(name: $0, codes: keyring.accountCodes(of: subject, for: $0)) },
      unbound: upstream.unbound, makesPrivate: subject != nil && upstream.settings.makesPrivate)
  }
}
