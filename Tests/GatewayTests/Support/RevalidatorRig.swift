import AppleIdentity
import FoundationEssentials
import Logging
import Operations
import Secrets
import Sessions
import Synchronization
import Testing

@testable import Gateway

/// A revalidator with a store in memory, an Apple and a clock of its own.
struct RevalidatorRig: Sendable {
  let store = MemoryStore()
  let clock = TestClock()
  let apple = FakeApple()
  let metrics = MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0))
  let storeHealth: StoreHealth
  let checks: Revalidator
  let provider: AppleIdentityProvider
  let keyring: SessionKeyring
  /// The messages that it logged, with the client, the error and the key.
  let lines = RecordedLines()
  private let health = HealthMonitor(checks: [])

  init() throws {
    keyring = try .forTests()
    let (clock, lines) = (clock, lines)
    provider = try apple.provider(clock)
    storeHealth = StoreHealth(
      StoreSettings(location: .sqlite(path: "/nowhere")), metrics: metrics,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: clock.milliseconds)
    checks = Revalidator(
      Self.dependencies(provider, keyring), store: store, storeHealth: storeHealth, unrecorded: UnrecordedResults(),
      metrics: metrics, health: health,
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["client", "error", "key"]) },
      clock: { clock.now })
  }

  private static func dependencies(
    _ apple: AppleIdentityProvider, _ keyring: SessionKeyring
  ) -> Revalidator.Dependencies {
    Revalidator.Dependencies(
      apple: apple, keyring: keyring, audit: AuditTrail(.silent, keyring: keyring), interval: .seconds(86_400))
  }

  /// Reloads the configuration with another registration or other keys.
  func apply(_ apple: AppleIdentityProvider, keyring: SessionKeyring) {
    checks.apply(Self.dependencies(apple, keyring))
  }

  /// Signs a user in whose last check is two days ago.
  func due(_ name: String = "001.anna", sealedBy other: SessionKeyring? = nil) throws -> SessionSnapshot {
    let subject = try #require(Subject(name))
    let token = try (other ?? keyring).seal(RefreshToken("r"), of: subject, clientID: "web")
    return try store.signIn(name, .random(), at: clock.now.addingTimeInterval(-2 * 86_400), token: token)
  }

  /// Takes the lease of an account as another process does.
  func lease(of snapshot: SessionSnapshot) async throws -> RevalidationLease {
    let outcome = try await store.acquireLease(
      of: snapshot.account.subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
    guard case .granted(let lease) = outcome else { throw RigError.noSubject }
    return lease
  }

  /// The records that the store has got.
  func answers() -> [RevalidationRecord.Kind] { store.state.withLock { $0.answers } }

  /// The health check of Apple.
  var appleCheck: HealthCheck? { health.report.checks.first { $0.name == "apple" } }
}
