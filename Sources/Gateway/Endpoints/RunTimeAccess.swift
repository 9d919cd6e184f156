internal import AccessPolicy
internal import Sessions

/// The part of `[access]` that endpoints need: who may ask for access, and who may manage it.
struct RunTimeAccess: Sendable {
  /// Whether a signed-in user who is refused may ask for access.
  let requests: Bool
  /// Names of the groups whose members may use the people page.
  let managers: [String]
  /// The groups and lists of the configuration.
  let policy: UserPolicy

  /// Whether a user is a member of a managers' group.
  func isManager(_ account: Account) -> Bool {
    let groups = policy.groupNames(of: account)
    return managers.contains { manager in groups.contains { $0.utf8.elementsEqual(manager.utf8) } }
  }
}
