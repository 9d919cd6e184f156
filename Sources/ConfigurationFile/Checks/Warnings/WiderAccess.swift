import AccessPolicy
import WebFormats

/// Compares whom routes and `[access]` admit, as far as the configuration says it.
struct WiderAccess {
  let groups: [GroupConfiguration]

  /// Whether an access admits users whom another refuses. Members of a group whom only the store has are taken for some
  /// of a domain or an organization that the other admits.
  func admits(_ access: RouteSettings.Access, moreThan other: RouteSettings.Access) -> Bool {
    switch (access, other) {
    case (.signOut, _), (.deny, _), (_, .signOut), (_, .public), (.signedIn, .signedIn), (.lists, .signedIn): false
    case (.lists(let lists), .lists(let others)): !isContained(lists, in: others)
    case (.public, _), (.signedIn, _), (.lists, .deny): true
    }
  }

  private func isContained(_ lists: AccessLists, in others: AccessLists) -> Bool {
    let organizations = Set(others.organizations.map { Array($0.utf8) })
    let known = Set(Self.users(of: others) + others.groups.flatMap { members(ofGroup: $0) })
    return lists.organizations.allSatisfy { organizations.contains(Array($0.utf8)) }
      && Self.users(of: lists).allSatisfy { Self.isCovered($0, by: known) }
      && lists.groups.allSatisfy { isContained(group: $0, in: others, known) }
  }

  /// - Parameter known: the users whom the other lists name, and the members of their groups.
  private func isContained(group: String, in others: AccessLists, _ known: Set<GroupMember>) -> Bool {
    if others.groups.contains(where: { $0.utf8.elementsEqual(group.utf8) }) { return true }
    let members = self.members(ofGroup: group)
    if members.isEmpty { return !others.emailDomains.isEmpty || !others.organizations.isEmpty }
    return members.allSatisfy { Self.isCovered($0, by: known) }
  }

  /// The members of a group that the configuration itself lists.
  private func members(ofGroup name: String) -> [GroupMember] {
    groups.filter { $0.name.utf8.elementsEqual(name.utf8) }.flatMap(\.members).compactMap { GroupMember($0) }
  }

  /// The users whom lists name, other than by an organization or a group.
  private static func users(of lists: AccessLists) -> [GroupMember] {
    let subjects = lists.subjects.map { GroupMember.subject(Array($0.utf8)) }
    let addresses = lists.emails.map { GroupMember.email($0.utf8.map(\.asciiLowercased)) }
    return subjects + addresses + lists.emailDomains.map { GroupMember.domain($0.utf8.map(\.asciiLowercased)) }
  }

  private static func isCovered(_ user: GroupMember, by known: Set<GroupMember>) -> Bool {
    if known.contains(user) { return true }
    guard case .email(let address) = user, let at = address.lastIndex(of: UInt8(ascii: "@")) else { return false }
    return known.contains(.domain(Array(address[(at + 1)...])))
  }
}
