internal import Sessions

/// Accounts that an operator names.
extension AccountStore where Self: BanStore {
  /// The subject under which a user has an account: the named one, or the latest one of a user who has moved to another
  /// team, because an operator may have an earlier one in the records. Nil without an account.
  func subjectOfAccount(_ named: Subject) async throws(StoreError) -> Subject? {
    if try await hasAccount(named) { return named }
    return try await latestSubject(of: named)
  }
}

extension AccountStore {
  /// Whether there is an account. One whose record is damaged is there, too, and can be removed.
  func hasAccount(_ subject: Subject) async throws(StoreError) -> Bool {
    do throws(StoreError) {
      return try await account(subject) != nil
    } catch {
      guard error.code == .damagedRow else { throw error }
      return true
    }
  }
}
