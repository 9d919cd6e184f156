import FoundationEssentials
import SQLiteSessions
import Sessions

/// The throughput of a store on this machine.
struct Measurement {
  let store: any SessionStore

  /// Sign-ins of people who were never here, by 64 at once.
  func writes(seconds: Int) async throws {
    let start = ContinuousClock.now
    let end = start + .seconds(seconds)
    let count = try await Self.signIns(into: store) { _ in ContinuousClock.now < end }.count
    let took = ContinuousClock.now - start
    try await store.close()
    say("\(count) sign-ins in \(took): \(Int(Double(count) / (took / .seconds(1)))) a second")
  }

  /// Signs people in, by 64 at once, each of whom goes on with their next one while `goesOn`, which is told how many
  /// they have done.
  private static func signIns(
    into store: any SessionStore, while goesOn: @escaping @Sendable (Int) -> Bool
  ) async throws -> [PublicSessionID] {
    let people = try People()
    let run = UInt32.random(in: 0 ... .max)
    return try await withThrowingTaskGroup(of: [PublicSessionID].self) { group in
      for writer in 0..<writers {
        group.addTask {
          var handles: [PublicSessionID] = []
          while goesOn(handles.count) {
            let signIn = try people.signIn("\(run).\(writer).\(handles.count)")
            _ = try await store.complete(signIn)
            handles.append(signIn.session.handle)
          }
          return handles
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  private static let writers = 64

  /// Opens the store as a gateway does at its start, and looks up sessions one after the other.
  static func firstSight(_ place: String, count: Int) async throws {
    let start = ContinuousClock.now
    let store = try await StoreWriter.open(place)
    let keys = try await store.sealingKeys()
    try await store.ping()
    let opened = ContinuousClock.now - start
    var handles = try await Self.handles(in: store, count: count)
    handles.shuffle()
    var times: [Duration] = []
    for handle in handles {
      let asked = ContinuousClock.now
      guard try await store.find(handle) != nil else { continue }
      times.append(ContinuousClock.now - asked)
    }
    times.sort()
    let counts = try await store.counts()
    try await store.close()
    say("\(counts.accounts) accounts, \(counts.sessions) sessions, \(keys.values.reduce(0, +)) tokens")
    say("start (open, keys, ping): \(opened)")
    guard !times.isEmpty else { return }
    say("first sight: p50 \(times[times.count / 2]), p99 \(times[times.count * 99 / 100]), of \(times.count)")
  }
  /// Sessions of the store, chosen by chance; of one that does not tell them, some that begin now.
  private static func handles(in store: any SessionStore, count: Int) async throws -> [PublicSessionID] {
    guard let source = store as? any StoreCopySource else {
      return try await signIns(into: store) { $0 < count / writers }
    }
    var handles: [PublicSessionID] = []
    while handles.count < count {
      // Handles are hashes: a random one has neighbours anywhere.
      let near = SessionIdentifier.random().handle.bytes
      let rows = try await source.rows(of: .sessions, after: [.bytes(near)], limit: 20)
      handles += rows.compactMap { if case .bytes(let bytes) = $0[0] { PublicSessionID(bytes: bytes) } else { nil } }
      if rows.isEmpty { break }
    }
    return handles
  }
}
