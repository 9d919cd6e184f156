internal import HTTPTypes
internal import WebFormats

/// The operations on access, for the commands `accounts`, `groups`, `requests`, `invitations` and `tokens`.
extension AdminClient {
  /// The number of accounts on a page of a list; the gateway decides how many it scans for one.
  private static let pageSize = AccessOperation.largestLimit

  /// The subject that a text names: itself, or that of the only account with this address, verified or not. For changes
  /// that give no access.
  package func subject(of who: String) async throws -> String { try await subject(of: who) { _ in true } }

  /// The same, for a removal from a group, which the configuration may have given to an address without an account.
  package func subject(of who: String, removedFrom group: String) async throws -> String {
    let remedy =
      "if the configuration has it, remove it from members or members_file of [[group]] \(group); otherwise name the "
      + "user by subject (sub)"
    return try await subject(of: who, ifNone: remedy) { _ in true }
  }

  /// The subject that a text names, for a change that gives access: itself, or that of the only account with this
  /// address. Anybody can have an Apple Account with an address that Apple has not verified, so such an account is not
  /// selected, unless `identity.allow_unverified_email` is set.
  package func subject(admitting who: String) async throws -> String {
    try await subject(of: who) { $0.emailVerified == true || allowsUnverifiedEmail }
  }

  /// - Parameter remedy: what to do where no account has the address.
  private func subject(
    of who: String, ifNone remedy: String = "name the user by subject (sub), or wait for the first sign-in",
    among isCandidate: (AccountReport) -> Bool
  ) async throws -> String {
    guard who.utf8.contains(UInt8(ascii: "@")) else { return who }
    let report = try await accounts(email: who)
    if let damaged = report.damaged {
      let subjects = damaged.map { $0 ?? "unreadable" }.joined(separator: ", ")
      throw AdminClientError(
        "an account with the address \(who) is damaged (\(subjects)): name the user by subject (sub)")
    }
    let found = report.accounts
    let candidates = found.filter(isCandidate)
    if candidates.count == 1 { return candidates[0].subject }
    guard let first = found.first else {
      throw AdminClientError("no account has the address \(who): \(remedy)")
    }
    guard found.count == 1 else {
      let subjects = found.map { $0.emailVerified == true ? $0.subject : "\($0.subject) (address not verified)" }
      throw AdminClientError(
        "\(found.count) accounts have the address \(who): name one by its subject: "
          + subjects.joined(separator: ", "))
    }
    throw AdminClientError(
      "Apple has not verified the address \(who) of the account \(first.subject), so it may be another person's: find "
        + "out whose account this is, then name the user by this subject")
  }

  /// A page of the list of accounts.
  /// - Parameter after: the `next` of the page before.
  package func accounts(
    group: String?, seenSince: String?, after: String?
  ) async throws -> AccountsReport {
    var fields = ["limit=\(Self.pageSize)"]
    for (name, value) in [("group", group), ("seen_since", seenSince), ("after", after)] {
      if let value { fields.append("\(name)=\(PercentEncoding.encode(value))") }
    }
    return try await ask(.get, "/accounts?\(fields.joined(separator: "&"))", AccountsReport.self)
  }

  /// Bans a user.
  package func ban(_ subject: String, until: String?, reason: String?) async throws -> BannedReport {
    try await ask(
      .put, "/accounts/\(PercentEncoding.encode(subject))/ban", BannedReport.self,
      body: Self.object([("until", until), ("reason", reason)]))
  }

  /// Lifts a ban.
  package func unban(_ subject: String) async throws -> UnbannedReport {
    try await ask(.delete, "/accounts/\(PercentEncoding.encode(subject))/ban", UnbannedReport.self)
  }

  /// All groups.
  package func groups() async throws -> [GroupReport] {
    try await ask(.get, "/groups", GroupsReport.self).groups
  }

  /// Refuses a removal that gives access, as from a group of a deny list, while the configuration file is invalid.
  /// - Throws: ``AdminClientError``.
  package func requireRestriction(byLeaving group: String) async throws {
    guard isFileInvalid, let found = try await groups().first(where: { $0.name == group }) else { return }
    if found.denies == false { return }
    throw AdminClientError(
      "a deny list names the group \(group), so that leaving it gives access: correct the configuration file first")
  }

  /// Adds a user to a group, or removes the user from it.
  package func setMember(_ subject: String, of group: String, to isMember: Bool) async throws -> MemberReport {
    try await ask(
      isMember ? .put : .delete,
      "/groups/\(PercentEncoding.encode(group))/members/\(PercentEncoding.encode(subject))", MemberReport.self)
  }

  /// A page of the open requests for access.
  /// - Parameter after: the `next` of the page before.
  package func requests(after: String?) async throws -> RequestsReport {
    let place = after.map { "&after=\(PercentEncoding.encode($0))" } ?? ""
    return try await ask(.get, "/requests?limit=\(Self.pageSize)\(place)", RequestsReport.self)
  }

  /// Admits the user of a request, named by code or subject, to a group.
  package func admit(_ request: String, to group: String) async throws -> DecisionReport {
    try await ask(
      .post, "/requests/\(PercentEncoding.encode(request))/admit", DecisionReport.self,
      body: Self.object([("group", group)]))
  }

  /// Rejects a request, named by code or subject.
  package func reject(_ request: String) async throws -> DecisionReport {
    try await ask(.post, "/requests/\(PercentEncoding.encode(request))/reject", DecisionReport.self)
  }

  /// Makes an invitation; the report has its link.
  package func invite(
    to group: String, uses: Int, expires: String, note: String?
  ) async throws -> InvitationReport {
    try await ask(
      .post, "/invitations", InvitationReport.self,
      body: Self.object([("group", group), ("expires", expires), ("note", note)], numbers: [("uses", uses)]))
  }

  /// Invitations, newest first.
  package func invitations() async throws -> InvitationsReport {
    try await ask(.get, "/invitations", InvitationsReport.self)
  }

  /// Ends an invitation.
  package func revokeInvitation(_ id: String) async throws -> RevokedReport {
    try await ask(.delete, "/invitations/\(PercentEncoding.encode(id))", RevokedReport.self)
  }

  /// Makes a machine token; the report has its text.
  package func createToken(name: String, group: String, expires: String?) async throws -> TokenReport {
    try await ask(
      .post, "/tokens", TokenReport.self,
      body: Self.object([("name", name), ("group", group), ("expires", expires)]))
  }

  /// Machine tokens, in the order of their names.
  package func tokens() async throws -> TokensReport { try await ask(.get, "/tokens", TokensReport.self) }

  /// Revokes a machine token.
  package func revokeToken(_ name: String) async throws -> RevokedReport {
    try await ask(.delete, "/tokens/\(PercentEncoding.encode(name))", RevokedReport.self)
  }

  /// A JSON object of the members that have a value.
  private static func object(_ texts: [(String, String?)], numbers: [(String, Int)] = []) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      for (name, value) in texts { if let value { json.string(name, value) } }
      for (name, value) in numbers { json.number(name, Double(value)) }
    }
    return json.bytes
  }
}
