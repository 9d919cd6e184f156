/// The groups of the configuration, indexed by member. Rebuilt when a members file changes.
///
/// Groups are numbered in the order of their names, byte by byte, so that rules compiled for the same names need not be
/// compiled again.
package final class GroupDirectory: Sendable {
  /// The names of all groups, sorted byte by byte: a group's number is its place.
  package var names: [String] { numbers.names }

  private let numbers: GroupNumbers
  private let subjects: GroupsOfMembers
  /// By addresses in lower case.
  private let emails: GroupsOfMembers
  /// By domains in lower case.
  private let domains: GroupsOfMembers

  /// Members that are neither a subject, an address nor a domain match nobody; the configuration's checks report them.
  package init(_ groups: [GroupSettings]) {
    let numbers = GroupNumbers(groups.map(\.name))
    var subjects: [(member: [UInt8], group: Int)] = []
    var emails: [(member: [UInt8], group: Int)] = []
    var domains: [(member: [UInt8], group: Int)] = []
    for group in groups {
      guard let number = numbers.number(of: group.name) else { continue }
      for member in group.members {
        switch GroupMember(member) {
        case .subject(let bytes): subjects.append((bytes, number))
        case .email(let bytes): emails.append((bytes, number))
        case .domain(let bytes): domains.append((bytes, number))
        case nil: break
        }
      }
    }
    self.numbers = numbers
    self.subjects = GroupsOfMembers(subjects)
    self.emails = GroupsOfMembers(emails)
    self.domains = GroupsOfMembers(domains)
  }

  /// The number of a group; nil if no `[[group]]` declares it.
  package func number(of name: String) -> Int? { numbers.number(of: name) }

  /// The groups of a user.
  /// - Parameters:
  ///   - stored: the names of the groups that the user was added to at run time; undeclared ones do not count.
  ///   - requiresVerifiedEmail: whether an address admits only if Apple says that it is verified. Default: true.
  package func membership(
    of user: Principal, stored: [String] = [], requiresVerifiedEmail: Bool = true
  ) -> GroupMembership {
    var certain = GroupSet(stored.compactMap { number(of: $0) })
    certain.formUnion(subjects[Array(user.subject.utf8)])
    var byAddress = GroupSet()
    if let address = user.email.flatMap({ EmailAddress($0) }) {
      byAddress = emails[address.folded].union(domains[Array(address.folded[address.domain])])
    }
    if user.isEmailVerified || !requiresVerifiedEmail { certain.formUnion(byAddress) }
    var deniable = certain.union(byAddress)
    if let former = user.formerSubject { deniable.formUnion(subjects[Array(former.utf8)]) }
    return GroupMembership(groups: certain, deniable: deniable)
  }

  /// The member of the configuration that puts a user into a group, as `members` or `members_file` write it; an address
  /// in lower case.
  package func configuredMember(
    _ user: Principal, in group: String, requiresVerifiedEmail: Bool = true
  ) -> String? {
    guard let number = number(of: group) else { return nil }
    if subjects[Array(user.subject.utf8)].contains(number) { return user.subject }
    guard user.isEmailVerified || !requiresVerifiedEmail, let address = user.email.flatMap({ EmailAddress($0) }) else {
      return nil
    }
    if emails[address.folded].contains(number) { return String(decoding: address.folded, as: UTF8.self) }
    let domain = Array(address.folded[address.domain])
    return domains[domain].contains(number) ? "@" + String(decoding: domain, as: UTF8.self) : nil
  }

  /// The number of members of each group by the configuration, in the order of `names`. One that is listed twice counts
  /// once.
  package func configuredCounts() -> [Int] {
    names.indices.map { group in
      [subjects, emails, domains].reduce(0) { $0 + $1.count(of: group) }
    }
  }

  /// The names of a set's groups, sorted.
  package func names(of set: GroupSet) -> [String] { names.indices.filter { set.contains($0) }.map { names[$0] } }
}

/// Members of one kind, with the groups of each.
private struct GroupsOfMembers: Sendable {
  private let members: SortedByteStrings
  /// By the index of the member. Members of the same groups share one set.
  private let groups: [GroupSet]

  init(_ listed: [(member: [UInt8], group: Int)]) {
    var groups: [GroupSet] = []
    var shared: [GroupSet: GroupSet] = [:]
    members = SortedByteStrings(listed.lazy.map(\.member)) { number, index in
      if index == groups.count { groups.append(GroupSet()) }
      guard !groups[index].contains(listed[number].group) else { return }
      let set = groups[index].union(GroupSet(CollectionOfOne(listed[number].group)))
      groups[index] = shared[set] ?? set
      shared[set] = groups[index]
    }
    self.groups = groups
  }

  /// The groups of a member; empty if it is not listed.
  subscript(member: [UInt8]) -> GroupSet { members.index(of: member).map { groups[$0] } ?? GroupSet() }

  /// The number of members of a group.
  func count(of group: Int) -> Int { groups.count { $0.contains(group) } }
}
