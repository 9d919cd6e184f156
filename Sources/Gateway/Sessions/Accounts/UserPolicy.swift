internal import AccessPolicy
internal import Sessions

/// Evaluates users by the groups and lists of one configuration, independently of any request.
struct UserPolicy: Sendable {
  let routes: RouteTable
  let groups: GroupDirectory
  /// Whether addresses that Apple has not verified count.
  private let allowsUnverifiedEmail: Bool
  /// Whether any route that is not public admits a user that no list or group names.
  private let admitsStrangers: Bool

  init(_ routes: RouteTable, _ groups: GroupDirectory, allowsUnverifiedEmail: Bool) {
    self.routes = routes
    self.groups = groups
    self.allowsUnverifiedEmail = allowsUnverifiedEmail
    admitsStrangers = routes.couldAdmit(Principal(subject: ""))
  }

  /// The same policy with other members of its groups.
  func with(_ groups: GroupDirectory) -> UserPolicy {
    UserPolicy(routes, groups, allowsUnverifiedEmail: allowsUnverifiedEmail)
  }

  /// The user of an account as rules see it, with the groups of the configuration and of the store.
  func principal(of account: Account) -> Principal {
    let claims = account.claims
    var principal = Principal(
      subject: account.subject.text, email: claims.email, isEmailVerified: claims.emailVerified ?? false,
      isPrivateEmail: claims.isPrivateEmail ?? false, organization: claims.organizationID,
      formerSubject: claims.formerSubject?.text)
    principal.membership = groups.membership(
      of: principal, stored: account.access.groups.map(\.text), requiresVerifiedEmail: !allowsUnverifiedEmail)
    return principal
  }

  /// The user of a subject that has no account, with the groups of the configuration and of the store.
  /// - Parameter stored: the groups that the user was added to at run time.
  func principal(of subject: Subject, stored: [GroupName]) -> Principal {
    var principal = Principal(subject: subject.text)
    principal.membership = groups.membership(
      of: principal, stored: stored.map(\.text), requiresVerifiedEmail: !allowsUnverifiedEmail)
    return principal
  }

  /// The member of the configuration that puts a user into a group, as `members` or `members_file` write it; nil if
  /// the user is not in the group, or only because of the store.
  func configuredMember(_ principal: Principal, in group: String) -> String? {
    groups.configuredMember(principal, in: group, requiresVerifiedEmail: !allowsUnverifiedEmail)
  }

  /// The names of the groups that admit a user, sorted.
  func groupNames(of principal: Principal) -> [String] { groups.names(of: principal.membership.groups) }

  /// The names of the groups that admit the user of an account, sorted.
  func groupNames(of account: Account) -> [String] { groupNames(of: principal(of: account)) }

  /// The decision of rules on the user of a session.
  func evaluate(_ principal: Principal, of snapshot: SessionSnapshot, by rules: AccessRules) -> AccessDecision {
    rules.evaluate(principal, requiresVerifiedEmail: !allowsUnverifiedEmail) { claim($0, of: snapshot, principal) }
  }

  /// Whether any route that is not public could admit the user of a session.
  func couldAdmit(_ principal: Principal, of snapshot: SessionSnapshot) -> Bool {
    routes.couldAdmit(principal, requiresVerifiedEmail: !allowsUnverifiedEmail) { claim($0, of: snapshot, principal) }
  }

  /// Whether there can be users that only public routes admit.
  var mayAdmitNowhere: Bool { !admitsStrangers || !groups.names.isEmpty }

  private func claim(_ name: String, of snapshot: SessionSnapshot, _ principal: Principal) -> [String] {
    if name.utf8.elementsEqual("scopes".utf8) { return snapshot.account.claims.scopes ?? [] }
    if name.utf8.elementsEqual("groups".utf8) { return groupNames(of: principal) }
    let said = IdentityHeaders.claim(
      name, account: snapshot.account, session: snapshot.session, allowUnverifiedEmail: false)
    return said.map { [$0] } ?? []
  }
}

/// The access of a user by the groups and lists of one configuration.
struct UserAccess {
  let principal: Principal
  /// The names of the user's groups, sorted.
  let groups: [String]
  /// Whether the deny lists of `[access]` name the user, who is then nobody on every public route.
  let isDenied: Bool
  /// Whether any route that is not public could admit the user.
  let isAdmittedAnywhere: Bool
  /// `SessionConfiguration.generation` of that configuration.
  let generation: Int

  init(_ snapshot: SessionSnapshot, _ configuration: SessionConfiguration) {
    let policy = configuration.policy
    principal = policy.principal(of: snapshot.account)
    groups = policy.groupNames(of: principal)
    isDenied = policy.routes.isDenied(principal)
    isAdmittedAnywhere = policy.couldAdmit(principal, of: snapshot)
    generation = configuration.generation
  }
}
