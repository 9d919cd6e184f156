import AccessPolicy

/// Turns the groups of a document into settings.
enum GroupChecks {
  /// Most groups.
  static let limit = 10_000

  static func check(
    _ drafts: [DocumentReader.Element<GroupBuilder>], into configuration: inout Configuration,
    _ reading: inout DecodingContext
  ) {
    var lines: [[UInt8]: Int] = [:]
    for (index, draft, _) in drafts {
      let path = path(at: index)
      let name = Array(draft.name.utf8)
      if let line = lines[name] {
        reading.complain(
          at: path.appending("name"), "there is a group \"\(draft.name)\" already, in line \(line)",
          remedy: "choose another name, or join the two")
      } else if configuration.groups.count == limit {
        reading.complain(atKey: path, "there are more than \(limit) groups", remedy: "remove this one")
        return
      } else {
        lines[name] = reading.place(of: path.appending("name")).line
        checkRepetitions(draft.members, at: path.appending("members"), &reading)
        configuration.groups.append(
          GroupConfiguration(
            name: draft.name, members: draft.members, membersFile: draft.membersFile,
            memberLines: draft.members.indices.map { reading.place(of: path.appending("members").appending($0)).line }))
      }
    }
  }

  /// The names that routes can use: also those of groups that are not in order otherwise.
  static func names(_ configuration: Configuration, _ reading: DecodingContext) -> [String] {
    configuration.groups.map(\.name) + reading.spoiledGroups
  }

  static func path(at index: Int) -> NodePath { NodePath(ConfigurationSchema.group.name).appending(index) }

  private static func checkRepetitions(_ members: [String], at path: NodePath, _ reading: inout DecodingContext) {
    var seen: Set<GroupMember> = []
    for (index, member) in members.enumerated() {
      guard let member = GroupMember(member), !seen.insert(member).inserted else { continue }
      reading.complain(at: path.appending(index), "members names this twice", remedy: "remove one of them")
    }
  }
}
