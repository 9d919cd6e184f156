internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import Operations
internal import Secrets
internal import Sessions

/// Disconnects users from the application, for operators and for the users themselves: revokes every refresh token at
/// Apple, each in the name of its own client, ends all sessions and deletes all data of the user.
///
/// If Apple did not revoke a token, everything is kept for a retry, which would be impossible without the token. A ban
/// outlives the account, and so do memberships of groups that deny lists name.
struct AccountRemoval: Sendable {
  let sessions: SessionManager
  let store: any AccountStore & EncryptedTokenStore
  let apple: AppleIdentityProvider
  let keyring: SessionKeyring
  /// The groups of all deny lists.
  let denyGroups: Set<GroupName>
  let metrics: MetricsRegistry
  let audit: AuditTrail

  /// Disconnects a user. When this returns, the sessions have ended on every loop.
  /// - Parameters:
  ///   - tokens: the user's refresh tokens.
  ///   - evenUnrevoked: whether the user is deleted even if Apple did not revoke every token.
  func remove(
    _ subject: Subject, revoking tokens: [StoredToken], evenUnrevoked: Bool = false, _ request: ControlRequest
  ) async throws(StoreError) -> DisconnectionReport {
    var revocations: [DisconnectionReport.Revocation] = []
    for token in tokens {
      let revocation = await revoke(token)
      revocations.append(revocation)
      audit.record(
        .revocation(outcome: revocation.outcome), subject: subject, peer: request.client.address,
        requestID: request.requestID, clientID: token.clientID)
    }
    guard evenUnrevoked || revocations.allSatisfy(\.isRevoked) else {
      return DisconnectionReport(forgotten: false, ended: 0, revocations: revocations)
    }
    let ended = try await sessions.end(.all(of: subject), because: .accountRemoved)
    audit.recordEnd(of: ended, because: .accountRemoved, subject: subject, requestID: request.requestID)
    // A sign-in between the two is forgotten as well.
    let late = try await store.forget(subject, keeping: denyGroups, at: Date(millisecondsSince1970: WallClock.now()))
    await sessions.endInProcess(late)
    await sessions.markStale(subject)
    metrics.countEnd(of: late, because: .accountRemoved)
    audit.recordEnd(of: late, because: .accountRemoved, subject: subject, requestID: request.requestID)
    return DisconnectionReport(forgotten: true, ended: ended.count + late.count, revocations: revocations)
  }

  private func revoke(_ stored: StoredToken) async -> DisconnectionReport.Revocation {
    func report(_ outcome: String, _ message: String? = nil) -> DisconnectionReport.Revocation {
      DisconnectionReport.Revocation(clientID: stored.clientID, outcome: outcome, message: message)
    }
    let token: RefreshToken
    do throws(SealError) {
      token = try keyring.open(stored.token, of: stored.subject, clientID: stored.clientID)
    } catch {
      return report("unreadable", "Apple cannot be asked to revoke the token: \(error.ofStoredToken)")
    }
    switch await apple.revocation.revoke(token, clientID: stored.clientID) {
    case .revoked: return report("revoked")
    case .refused(let refusal): return report("refused", "\(refusal.message): \(refusal.remedy)")
    case .appleTrouble(let trouble): return report("apple_trouble", "\(trouble.message): try again")
    case .notSent(let reason): return report("not_sent", "Apple could not be reached (\(reason)): try again")
    case .noSecret(let problem): return report("no_secret", problem.message)
    }
  }
}
