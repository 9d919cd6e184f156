package import FoundationEssentials

/// The columns of access as stores keep them.
extension AccountAccess {
  /// From columns of the account and its ban.
  ///
  /// - Parameters:
  ///   - groups: names in any order with spaces between them; nil for none.
  ///   - since: nil if there is no ban.
  /// - Throws: ``DamagedRowError``.
  package init(
    isTokenDiscarded: Bool, groups: String?, until: Date?, reason: String?, since: Date?, by: String?
  ) throws {
    self.init()
    self.isTokenDiscarded = isTokenDiscarded
    self.groups = try (groups ?? "").split(separator: " ").map { try GroupName(stored: String($0)) }.sorted()
    if let since, let by { ban = Ban(until: until, reason: reason, since: since, by: AccessAuthor(stored: by)) }
  }
}

extension GroupName {
  /// From a column.
  /// - Throws: ``DamagedRowError``.
  package init(stored text: String) throws {
    guard let name = GroupName(text) else { throw DamagedRowError(what: "group") }
    self = name
  }
}

extension NamedUser {
  /// From columns; transfer and team are nil if no transfer identifier is stored. Nil if the subject is none: then it
  /// names nobody.
  package init?(stored subject: String, transfer: String?, team: String?, isDeleted: Bool) {
    guard let subject = Subject(subject) else { return nil }
    var prepared: PreparedTransfer?
    if let identifier = transfer.flatMap({ Subject($0) }), let team {
      prepared = PreparedTransfer(subject: identifier, team: team)
    }
    self.init(subject: subject, prepared: prepared, isDeleted: isDeleted)
  }
}

extension AccessRequest {
  /// From columns.
  /// - Throws: ``DamagedRowError``.
  package init(stored code: String, subject: String, asked: Date) throws {
    guard let code = AccessRequestCode(code), let subject = Subject(subject) else {
      throw DamagedRowError(what: "request")
    }
    self.init(code: code, subject: subject, asked: asked)
  }
}

extension Ban {
  /// Whether it ends later than another one.
  package func outlasts(_ other: Ban?) -> Bool {
    guard let other else { return true }
    guard let end = other.until else { return false }
    return until.map { $0 > end } ?? true
  }
}

extension Invitation {
  /// The moment at which it has admitted the last user, or its end.
  /// - Parameter used: the number of users that it has admitted, this one included.
  package func closes(used: Int, at now: Date) -> Date { used < uses ? expires : min(now, expires) }

  /// The outcome of redeeming it.
  ///
  /// - Parameters:
  ///   - hasUsed: whether it has admitted the user before.
  ///   - isMember: whether the user is in the group.
  package func outcome(for ban: Ban?, isMember: Bool, hasUsed: Bool, at now: Date) -> RedemptionOutcome {
    if let ban, ban.isInForce(at: now) { return .banned }
    if isMember { return .alreadyMember(group) }
    return isOpen(at: now) && !hasUsed ? .joined(group) : .closed
  }
}

extension StoreError {
  /// The operation needs an account that does not exist.
  package static let unknownUser = StoreError(
    code: .conflict, message: "the user is unknown, or was removed meanwhile; the user signs in again")

  /// A record with this name exists already.
  package static func taken(_ what: String) -> StoreError {
    StoreError(code: .conflict, message: "\(what) exists already; choose another name")
  }
}
