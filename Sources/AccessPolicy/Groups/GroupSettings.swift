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
