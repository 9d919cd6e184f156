package import FoundationEssentials
package import Sessions

extension SQLiteSessionStore {
  /// Counts in one transaction that reads, so that the numbers agree with each other.
  package func accessCounts(at now: Date) async throws(StoreError) -> AccessCounts {
    let until = AccessRequest.expiredUntil(now).stored
    return try await read { database in
      AccessCounts(
        requests: try Self.requestCount(after: until, in: database), bans: try Self.banCount(at: now, in: database),
        invitations: try Self.invitations(in: database).records().count { $0.isOpen(at: now) },
        tokens: try Self.machineTokens(in: database).records().count { $0.isInForce(at: now) },
        members: try Self.memberCounts(in: database))
    }
  }
}
