package import WebFormats

/// One `[[route]]` of the configuration: the requests that it holds for, and their settings. Settings that it does not
/// state are inherited from less specific routes, and finally from ``AccessSettings``.
package struct RouteSettings: Sendable, Equatable {
  /// The hosts that it holds for. Default: that of `public_url` and its aliases.
  package var host = HostScope.publicURL
  /// The canonical path, beginning with `/`.
  package var path: String
  /// Whether it also holds for everything below the path. Default: prefix.
  package var match = Match.prefix
  /// The methods that it holds for, byte for byte; `GET` includes `HEAD`. Default: nil: all.
  package var methods: [String]?
  /// The users who are admitted. Default: nil, inherited.
  package var access: Access?
  /// Conditions beside those that it inherits; on a public route there are none.
  package var conditions = AccessConditions()
  /// The answer to a request without a session. Default: nil: inherited.
  package var unauthenticated: Unauthenticated?
  /// The name of the application that serves it; ``defaultUpstream`` for the one of `[upstream]`. Default: nil:
  /// inherited.
  package var upstream: String?
  /// The least rate of a request's body in bytes per second, 0 for none. Default: nil: inherited.
  package var bodyRate: Int?
  /// Most bytes of a form that is kept in the browser while its user signs in, 0 for none. Default: nil: inherited, in
  /// the end none.
  package var keptFormBytes: Int?
  /// The networks of which one must contain the client's address (`networks`), in addition to those of other routes
  /// that hold; also on a public route. Default: none.
  package var networks: [NetworkPrefix] = []
  /// The age in seconds from which a sign-in must be repeated, 0 for none. Default: nil: inherited.
  package var maxAge: Int?
  /// Whether machine tokens are accepted. Default: nil: inherited.
  package var tokens: Bool?
  /// The answer to CORS preflights. Default: nil: inherited, in the end ``Preflight/block``.
  package var preflight: Preflight?

  /// The name of the application that serves everything for which no route states another.
  package static let defaultUpstream = "default"

  /// A route that states nothing but its path and, unless it is nil, who is admitted.
  package init(path: String, access: Access? = nil) {
    self.path = path
    self.access = access
  }

  /// Whether it states any setting that decides who is admitted.
  var statesAccess: Bool {
    access != nil || !conditions.isEmpty || !networks.isEmpty || maxAge != nil || tokens != nil || preflight != nil
  }

  /// Whether who is admitted is all that it states of what decides on access, for every method.
  var statesOnlyAccess: Bool {
    methods == nil && conditions.isEmpty && networks.isEmpty && maxAge == nil && tokens == nil && preflight == nil
  }

  /// Hosts that a route holds for.
  package enum HostScope: Sendable, Hashable {
    /// The host of `public_url`, and its aliases.
    case publicURL
    /// One other host: its authority in lower case. The host of `public_url` is ``publicURL``.
    case named(String)
    /// Every host.
    case all
  }

  /// The comparison of a path with that of a route.
  package enum Match: String, Sendable, CaseIterable {
    /// The path itself unless it ends with `/`, and everything below it.
    case prefix
    /// The path itself.
    case exact
  }

  /// The users who are admitted.
  package enum Access: Sendable, Equatable {
    /// Everybody; the identity is still sent when there is a session.
    case `public`
    /// Everybody with a session.
    case signedIn
    /// Everybody with a session that one of the lists names.
    case lists(AccessLists)
    /// Nobody: the gateway answers every request as its own `sign-out`, without conditions.
    case signOut
    /// Nobody: 403.
    case deny

    /// Whether any request reaches the application.
    package var isForwarded: Bool {
      switch self {
      case .public, .signedIn, .lists: true
      case .signOut, .deny: false
      }
    }
  }

  /// The answer to a CORS preflight (Fetch Standard, 4.8), which browsers send without credentials.
  package enum Preflight: String, Sendable, CaseIterable {
    /// The same as to every other request.
    case block
    /// The application's, without an identity.
    case pass
  }

  /// The answer to a request without a session.
  package enum Unauthenticated: Sendable, Equatable {
    /// A navigation is sent to sign in; anything else gets 401.
    case automatic
    /// Always 401.
    case unauthorized
  }
}
