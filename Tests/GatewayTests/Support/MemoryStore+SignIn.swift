import FoundationEssentials
import Sessions

extension MemoryStore {
  func consume(_ replayGuard: ReplayGuard, until: Date) async throws(StoreError) -> Bool {
    try requireSuccess(of: "consume")
    return try access { $0.replayGuards.insert(replayGuard).inserted }
  }

  func isConsumed(_ replayGuard: ReplayGuard) async throws(StoreError) -> Bool {
    try access { $0.replayGuards.contains(replayGuard) }
  }

  func savePendingName(_ name: PersonName, submittedBy subject: Subject, at now: Date) async throws(StoreError) {
    try requireSuccess(of: "savePendingName")
    try access { $0.pendingNames[subject] = name }
  }

  func complete(_ signIn: SignIn) async throws(StoreError) -> CompletedSignIn {
    try requireSuccess(of: "complete")
    return try access { state in
      let session = signIn.session
      let known = state.account(session.subject)
      var account =
        known
        ?? Account(
          subject: session.subject, name: nil, claims: signIn.claims, latestAuthorization: session.began,
          lastVerified: session.began, lastAsked: session.began)
      account.claims = account.claims.afterSignIn(signIn.claims)
      account.name = signIn.name ?? state.pendingNames[session.subject] ?? account.name
      state.pendingNames[session.subject] = nil
      state.accounts[session.subject] = account
      state.sessions[session.handle] = session
      var ended: [PublicSessionID] = []
      if let replaced = signIn.replacing, state.sessions.removeValue(forKey: replaced) != nil { ended = [replaced] }
      let completed = CompletedSignIn(
        snapshot: SessionSnapshot(session: session, account: state.account(session.subject) ?? account), ended: ended,
        isNewAccount: known == nil)
      if let ban = state.banDuringSignIn.take() { state.bans[session.subject] = ban }
      return completed
    }
  }

  func accounts(withEmail email: String) async throws(StoreError) -> [Listed<Account>] {
    try access { state in
      state.accounts.values.filter { $0.claims.email == email }.map { Listed.readable($0) }
    }
  }
}
