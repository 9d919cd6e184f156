internal import Sessions

/// `GET /groups`.
package struct GroupsReport: Codable, Sendable, Equatable {
  /// In the order of their names.
  package let groups: [GroupReport]
}

/// A group, as the operator sees it.
package struct GroupReport: Codable, Sendable, Equatable {
  /// The name of the group.
  package let name: String
  /// Whether a `[[group]]` declares it.
  package let declared: Bool
  /// The number of members by configuration.
  package let configured: Int
  /// The number of users who were added at run time.
  package let added: Int
  /// The subjects of the first hundred of them.
  package let members: [String]
  /// Whether a deny list names it, so that leaving it gives access; earlier versions do not say.
  package let denies: Bool?

  /// - Parameter denyGroups: the groups of all deny lists.
  init(_ group: AccessChanges.ListedGroup, denyGroups: Set<GroupName>) {
    denies = denyGroups.contains { $0.text.utf8.elementsEqual(group.name.utf8) }
    name = group.name
    declared = group.isDeclared
    configured = group.configured
    added = group.added
    members = group.members.map(\.text)
  }
}

/// `PUT` and `DELETE /groups/G/members/SUB`.
package struct MemberReport: Codable, Sendable, Equatable {
  /// Apple's `sub`.
  package let subject: String
  /// The name of the group.
  package let group: String
  /// Whether the user is a member from now on.
  package let isMember: Bool
  /// Whether that is new.
  package let isChanged: Bool

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
    case group
    case isMember = "member"
    case isChanged = "changed"
  }
}
