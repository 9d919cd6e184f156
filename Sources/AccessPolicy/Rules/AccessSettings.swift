package import WebFormats

/// `[access]`: the settings of every request for which no route states others.
package struct AccessSettings: Sendable, Equatable {
  /// The users who may pass. Default: nil: everybody with a session.
  package var lists: AccessLists?
  /// Conditions of every route that is not public.
  package var conditions = AccessConditions()
  /// The answer to a request without a session. Default: chosen by the request.
  package var unauthenticated = RouteSettings.Unauthenticated.automatic
  /// The networks of which one must contain the client's address, on every route that is not public. Default: none.
  package var networks: [NetworkPrefix] = []
  /// The age in seconds from which a sign-in must be repeated, 0 for none.
  package var maxAge = 0
  /// Whether machine tokens are accepted.
  package var tokens = false
  /// Whether a signed-in user who is refused may ask for access.
  package var requests = false
  /// Names of the groups whose members may use the people page.
  package var managers: [String] = []

  /// The defaults: everybody with a session, without conditions.
  package init() {}
}

/// Conditions in addition to the lists. They are cumulative along a chain of routes: none removes another.
package struct AccessConditions: Sendable, Equatable {
  /// The condition on the e-mail address. Default: none.
  package var privateEmail = PrivateEmail.allow
  /// Required values of identity token claims. Default: none.
  package var requirements: [ClaimRequirement] = []
  /// Users who are refused even if a list names them. Default: none.
  package var denied = DenyLists()

  /// No conditions.
  package init() {}

  /// Whether there are no conditions.
  package var isEmpty: Bool { privateEmail == .allow && requirements.isEmpty && denied.isEmpty }

  /// The deny lists alone.
  var deniesOnly: AccessConditions {
    var conditions = AccessConditions()
    conditions.denied = denied
    return conditions
  }

  /// A condition on the user's e-mail address.
  package enum PrivateEmail: String, Sendable, CaseIterable {
    /// No condition.
    case allow
    /// Users who hide their address behind Apple's relay are refused.
    case deny
    /// Users who do not hide it are refused.
    case require
  }
}
