internal import WebFormats

/// Numbers of accounts, of members of groups, and of decisions of operators, as of the last count in the store.
package struct PeopleCounts: Sendable, Equatable {
  /// Nil until they were counted, which a store with many millions of them may not be in time to do.
  package var accounts: Int?
  /// Sessions that have not ended, with expired ones that are not removed yet; nil until they were counted.
  package var sessions: Int?
  /// The groups that the configuration declares.
  package var groups: [Group] = []
  /// Requests for access that wait for an operator.
  package var requests = 0
  /// Bans in force.
  package var bans = 0
  /// Invitations that still admit somebody.
  package var invitations = 0
  /// Machine tokens that are accepted.
  package var tokens = 0

  /// Creates counts of zero.
  package init() {}

  /// A group that the configuration declares.
  package struct Group: Sendable, Equatable {
    /// The name of the group.
    package var name: String
    /// The number of members by configuration: subjects, addresses and domains.
    package var configured: Int
    /// The number of users who were added at run time.
    package var added: Int

    /// Creates the counts of a group.
    package init(name: String, configured: Int, added: Int) {
      self.name = name
      self.configured = configured
      self.added = added
    }
  }

  func write(_ name: String, to json: inout JSONWriter) {
    json.object(name) { json in
      for (name, count) in [
        ("accounts", accounts), ("sessions", sessions), ("requests", requests), ("bans", bans),
        ("invitations", invitations), ("tokens", tokens),
      ] {
        if let count { json.number(name, Double(count)) }
      }
      json.array("groups") { json in
        for group in groups {
          json.object { json in
            json.string("name", group.name)
            json.number("configured", Double(group.configured))
            json.number("added", Double(group.added))
          }
        }
      }
    }
  }
}

/// The tables about people on the page.
extension PeopleCounts {
  /// Groups that the page shows; the JSON has all.
  private static let shownGroups = 12

  /// Accounts, sessions and groups.
  var rows: [Markup] {
    var rows = [Self.row("Accounts", accounts), Self.row("Sessions", sessions)]
    for group in groups.prefix(Self.shownGroups) {
      rows.append(
        """
        <tr><th scope="row">\(group.name)<small>group</small></th><td class="number">\
        \(StatusNumbers.grouped(UInt64(clamping: group.added))) added<small>\
        \(StatusNumbers.grouped(UInt64(clamping: group.configured))) by configuration</small></td></tr>
        """)
    }
    if groups.count > Self.shownGroups {
      rows.append(Self.row("More groups", groups.count - Self.shownGroups))
    }
    return rows
  }

  /// Requests that wait for operators, and their decisions.
  var accessRows: [Markup] {
    let waiting: Markup =
      requests == 0
      ? #"<span class="badge ok"><i></i>none waiting</span>"#
      : #"<span class="badge waiting"><i></i>\#(StatusNumbers.grouped(UInt64(clamping: requests))) waiting</span>"#
    let command = requests == 0 ? "" : "cordon requests list"
    let first: Markup = """
      <tr><th scope="row">Requests for access<small>\(command)</small></th><td class="number">\(waiting)</td></tr>
      """
    return [
      first, Self.row("Open invitations", invitations), Self.row("Bans in force", bans),
      Self.row("Machine tokens", tokens),
    ]
  }

  private static func row(_ name: String, _ count: Int?) -> Markup {
    """
    <tr><th scope="row">\(name)</th>\
    <td class="number">\(count.map { StatusNumbers.grouped(UInt64(clamping: $0)) } ?? "not counted")</td></tr>
    """
  }
}
