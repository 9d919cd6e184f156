import AccessPolicy

/// Turns the groups of a document into settings.
enum GroupChecks {
  /// The largest number of groups.
  static let limit = 10_000

  static func check(
    _ builders: [DocumentReader.Element<GroupBuilder>], into configuration: inout Configuration,
    _ context: inout DecodingContext
  ) {
    var lines: [[UInt8]: Int] = [:]
    for (index, builder, _) in builders {
      let path = path(at: index)
      let name = Array(builder.name.utf8)
      if let line = lines[name] {
        context.report(
          at: path.appending("name"), "there is a group \"\(builder.name)\" already, in line \(line)",
          remedy: "choose another name, or join the two")
      } else if configuration.groups.count == limit {
        context.report(atKey: path, "there are more than \(limit) groups", remedy: "remove this one")
        return
      } else {
        lines[name] = context.location(of: path.appending("name")).line
        checkRepetitions(builder.members, at: path.appending("members"), &context)
        configuration.groups.append(
          GroupConfiguration(
            name: builder.name, members: builder.members, membersFile: builder.membersFile,
            memberLines: builder.members.indices.map {
              context.location(of: path.appending("members").appending($0)).line
            }))
      }
    }
  }

  /// The names that routes can use, including those of invalid groups.
  static func names(_ configuration: Configuration, _ context: DecodingContext) -> [String] {
    configuration.groups.map(\.name) + context.invalidGroups
  }

  static func path(at index: Int) -> NodePath { NodePath(ConfigurationSchema.group.name).appending(index) }

  private static func checkRepetitions(_ members: [String], at path: NodePath, _ context: inout DecodingContext) {
    var seen: Set<GroupMember> = []
    for (index, member) in members.enumerated() {
      guard let member = GroupMember(member), !seen.insert(member).inserted else { continue }
      context.report(at: path.appending(index), "members lists this twice", remedy: "remove one of them")
    }
  }
}
