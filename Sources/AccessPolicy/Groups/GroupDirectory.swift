internal import WebFormats

/// The lines of a group's members, in the order of the members, for messages. They do not count for the equality of
/// configurations.
package struct MemberLines: Sendable, Equatable {
  private let lines: [Int]

  init(_ lines: [Int]) { self.lines = lines }

  /// The line of a member; nil if it is not known.
  package subscript(index: Int) -> Int? { lines.indices.contains(index) ? lines[index] : nil }

  package static func == (left: MemberLines, right: MemberLines) -> Bool { true }
}

/// One `[[group]]` of the configuration, with the members of its `members_file` among its members.
package struct GroupSettings: Sendable, Equatable {
  /// Letters, digits, `-`, `_` and `.` of ASCII.
  package var name: String
  /// Subjects, verified e-mail addresses, and `@example.com` for every verified address of a domain.
  package var members: [String]

  /// A group with the members of all its sources in the configuration.
  package init(name: String, members: [String] = []) {
    self.name = name
    self.members = members
  }
}

/// One `[[group]]` as the configuration states it, before its `members_file` is read.
package struct GroupConfiguration: Sendable, Equatable {
  /// As in ``GroupSettings/name``.
  package var name: String
  /// The members that the configuration itself lists.
  package var members: [String]
  /// The absolute path of a file with more members; nil without one.
  package var membersFile: String?
  /// The lines of the members in the configuration file.
  package var memberLines: MemberLines

  /// A `[[group]]` as written. Members whose line is not in `memberLines` have none.
  package init(name: String, members: [String] = [], membersFile: String? = nil, memberLines: [Int] = []) {
    self.name = name
    self.members = members
    self.membersFile = membersFile
    self.memberLines = MemberLines(memberLines)
  }

  /// The location of a member, for messages: its line in the configuration file or in the members file.
  /// - Parameter read: the contents of a file; nil if it cannot be read.
  package func place(of member: String, read: (_ path: String) -> [UInt8]?) -> String? {
    guard let member = GroupMember(member) else { return nil }
    if let index = members.firstIndex(where: { GroupMember($0) == member }) {
      return memberLines[index].map { "line \($0) of the configuration file" }
    }
    guard let membersFile, let bytes = read(membersFile), let line = MembersFile.line(of: member, in: bytes) else {
      return nil
    }
    return "line \(line) of \(membersFile)"
  }

  /// The settings of the group with the members of its file.
  package func settings(withMembersOfFile fileMembers: [String] = []) -> GroupSettings {
    GroupSettings(name: name, members: members + fileMembers)
  }
}

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
    return GroupMembership(groups: certain, deniable: certain.union(byAddress))
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

/// One member as the configuration writes it.
package enum GroupMember: Sendable, Hashable {
  /// Apple's `sub`, byte for byte.
  case subject([UInt8])
  /// In lower case.
  case email([UInt8])
  /// In lower case, without the `@`.
  case domain([UInt8])

  /// Nil for a text that is neither: an address that is not exactly one, a pattern, control characters.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    if let address = EmailAddress(text) {
      self = .email(address.folded)
    } else if bytes.first == UInt8(ascii: "@") {
      let domain = String(text.dropFirst())
      guard EmailAddress.isDomain(domain) else { return nil }
      self = .domain(domain.utf8.map(\.asciiLowercased))
    } else {
      guard Self.isSubject(text), !bytes.contains(UInt8(ascii: "@")) else { return nil }
      self = .subject(bytes)
    }
  }

  /// Whether a text can be the subject of an identity token: 1 to 255 bytes of printable ASCII without spaces. A token
  /// with any other is refused.
  static func isSubject(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The problem of a text as a member; nil for a member.
  package static func problem(of text: String) -> Diagnostic? {
    guard let member = GroupMember(text) else { return .notMember }
    switch member {
    case .email(let bytes):
      return bytes.prefix { $0 != UInt8(ascii: "@") }.contains(UInt8(ascii: "*")) ? .pattern : nil
    case .domain(let bytes): return bytes.elementsEqual(AccessLists.relayDomain.utf8) ? .relayDomain : nil
    case .subject(let bytes): return bytes.contains(UInt8(ascii: "*")) ? .pattern : nil
    }
  }

  /// Whether a text counts as a subject, but does not look like one. Apple's are digits and lower-case letters with
  /// dots between their parts (001234.0123456789abcdef0123456789abcdef.0123), and are compared byte for byte. Other
  /// issuers of the kind may have another form.
  package static func isUnlikelySubject(_ text: String) -> Bool {
    guard case .subject(let bytes) = GroupMember(text) else { return false }
    let dot = UInt8(ascii: ".")
    return !bytes.contains(dot)
      || !bytes.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter && $0 == $0.asciiLowercased || $0 == dot }
  }

  /// Whether a text counts as a subject, but looks like a domain without its `@`.
  package static func isLikelyDomain(_ text: String) -> Bool {
    guard case .subject(let bytes) = GroupMember(text) else { return false }
    return bytes.first?.isASCIILetter == true && bytes.contains(UInt8(ascii: "."))
  }

  /// A diagnostic about a text that should be a member.
  package enum Diagnostic: Sendable, Equatable {
    /// Neither a subject, an e-mail address nor a domain.
    case notMember
    /// An address or a subject with a `*`, which would be compared as it stands.
    case pattern
    /// The domain of Apple's relay, whose addresses belong to everybody who hides the real one.
    case relayDomain

    /// The problem, to follow a subject.
    package var message: String {
      switch self {
      case .notMember: "is neither a subject, an e-mail address nor a domain"
      case .pattern: "has a \"*\", but members are not patterns"
      case .relayDomain: "is the domain of Apple's relay, which would admit everybody who hides the address"
      }
    }

    /// The correction, in the imperative.
    package var remedy: String {
      switch self {
      case .notMember: "write \"001234.abc.5678\", \"ada@example.com\", or \"@example.com\" for a whole domain"
      case .pattern: "write \"@example.com\" for every address of a domain"
      case .relayDomain: "remove it; `cordon groups add` adds a user who hides the address"
      }
    }
  }
}

/// The groups of one user.
package struct GroupMembership: Sendable, Equatable {
  /// Groups that admit: by subject, by the store, and by a verified address.
  package var groups = GroupSet()
  /// Groups that deny: those, and by an address that is not verified.
  package var deniable = GroupSet()

  /// The membership of a user in no group.
  package init() {}

  init(groups: GroupSet, deniable: GroupSet) {
    self.groups = groups
    self.deniable = deniable
  }
}

/// A set of the numbers of groups.
package struct GroupSet: Sendable, Hashable {
  /// 64 groups a word; no zero words at the end, so that equal sets are equal.
  private var words: [UInt64] = []

  /// The empty set.
  package init() {}

  /// The set of these numbers, which are not negative and may repeat.
  package init(_ numbers: some Sequence<Int>) {
    for number in numbers {
      let place = number >> 6
      while words.count <= place { words.append(0) }
      words[place] |= 1 << UInt64(number & 63)
    }
  }

  /// Whether there is no group in the set.
  package var isEmpty: Bool { words.isEmpty }

  /// Whether a group is in the set; false for numbers of no group.
  /// - Parameter number: not negative.
  package func contains(_ number: Int) -> Bool {
    number >> 6 < words.count && words[number >> 6] & 1 << UInt64(number & 63) != 0
  }

  /// Whether the two have a group in common.
  package func intersects(_ other: GroupSet) -> Bool { zip(words, other.words).contains { $0 & $1 != 0 } }

  /// Adds the groups of another set.
  package mutating func formUnion(_ other: GroupSet) {
    while words.count < other.words.count { words.append(0) }
    for place in other.words.indices { words[place] |= other.words[place] }
  }

  /// The groups that are in either set.
  package func union(_ other: GroupSet) -> GroupSet {
    var result = self
    result.formUnion(other)
    return result
  }
}
