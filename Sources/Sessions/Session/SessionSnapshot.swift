/// A session with its account, as one read of the store gave them.
package struct SessionSnapshot: Sendable, Equatable {
  /// The session itself.
  package let session: Session
  /// The session's account.
  package let account: Account

  /// A session with its account.
  package init(session: Session, account: Account) {
    self.session = session
    self.account = account
  }
}
