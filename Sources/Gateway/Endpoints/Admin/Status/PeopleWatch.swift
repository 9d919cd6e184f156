internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import Operations
internal import Sessions
internal import Synchronization

/// Periodically counts accounts, members of groups, requests, bans, invitations and tokens, for metrics and the status
/// page, which must not wait for the store.
final class PeopleWatch: Sendable {
  private let store: any AccessStore & StoreMaintenance
  private let storeHealth: StoreHealth
  private let state = Mutex(State())

  private struct State {
    var counts: PeopleCounts?
    var members: [GroupName: Int] = [:]
    /// The time of the last count of all accounts, in milliseconds since 1970.
    var countedAccounts: Int64 = .min
  }

  /// The interval between counts, in seconds.
  static let interval = 10
  /// The interval between counts of all accounts and sessions, which read whole tables, in milliseconds.
  private static let accountInterval: Int64 = 60_000

  init(store: any AccessStore & StoreMaintenance, storeHealth: StoreHealth) {
    self.store = store
    self.storeHealth = storeHealth
  }

  /// Adds a gauge for each count of things that await or record a decision of an operator.
  func addMetrics(to metrics: MetricsRegistry) {
    add("cordon_access_requests_waiting", "Requests for access that wait for an operator.", \.requests, to: metrics)
    add("cordon_bans_in_force", "Banned users.", \.bans, to: metrics)
    add("cordon_invitations_open", "Invitations that still admit somebody.", \.invitations, to: metrics)
    add("cordon_machine_tokens", "Machine tokens that have not expired.", \.tokens, to: metrics)
  }

  private func add(
    _ name: String, _ help: String, _ count: @escaping @Sendable (PeopleCounts) -> Int, to metrics: MetricsRegistry
  ) {
    metrics.addGauge(name, help: help) { [self] in Double(state.withLock { $0.counts.map(count) ?? 0 }) }
  }

  /// Counts. The numbers stay the same if the store does not answer in time.
  func count() async {
    do throws(StoreError) { try await count(at: WallClock.now()) } catch { storeHealth.failed("people", error) }
  }

  private func count(at now: Int64) async throws(StoreError) {
    let date = Date(millisecondsSince1970: now)
    var (counts, countedAccounts) = state.withLock { ($0.counts ?? PeopleCounts(), $0.countedAccounts) }
    let access = try await store.accessCounts(at: date)
    (counts.requests, counts.bans) = (access.requests, access.bans)
    (counts.invitations, counts.tokens) = (access.invitations, access.tokens)
    if countedAccounts == .min || abs(now - countedAccounts) >= Self.accountInterval {
      countedAccounts = now
      do throws(StoreError) {
        let stored = try await store.counts()
        (counts.accounts, counts.sessions) = (stored.accounts, stored.sessions)
      } catch {
        // Tables of many millions of rows take longer than a statement may, which is no failure.
        guard error.code == .busy else { throw error }
      }
    }
    state.withLock { state in
      state.counts = counts
      state.members = access.members
      state.countedAccounts = countedAccounts
    }
  }

  /// The latest numbers, with the groups of this configuration; nil before the first count.
  func latest(_ directory: GroupDirectory) -> PeopleCounts? {
    let (counts, members) = state.withLock { ($0.counts, $0.members) }
    guard var counts else { return nil }
    counts.groups = zip(directory.names, directory.configuredCounts()).map { name, configured in
      PeopleCounts.Group(
        name: name, configured: configured, added: GroupName(name).flatMap { members[$0] } ?? 0)
    }
    return counts
  }
}
