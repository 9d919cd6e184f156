import FoundationEssentials
import SQLiteSessions
import Sessions

/// What a store can do on this machine.
struct Measurement {
  let store: any SessionStore

  /// Sign-ins of people who were never here, by 64 at once.
  func writes(seconds: Int) async throws {
    let people = try People()
    let run = UInt32.random(in: 0 ... .max)
    let start = ContinuousClock.now
    let end = start + .seconds(seconds)
    let store = store
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for writer in 0..<64 {
        group.addTask {
          var count = 0
          while ContinuousClock.now < end {
            _ = try await store.complete(try people.signIn("\(run).\(writer).\(count)"))
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    let took = ContinuousClock.now - start
    try await store.close()
    say("\(counts) sign-ins in \(took): \(Int(Double(counts) / (took / .seconds(1)))) a second")
  }

  /// Opens the store as a gateway does at its start, and looks up sessions one after the other.
  static func firstSight(_ place: String, count: Int) async throws {
    let start = ContinuousClock.now
    let store = try await StoreWriter.open(place)
    let keys = try await store.sealingKeys()
    try await store.ping()
    let opened = ContinuousClock.now - start
    guard let source = store as? any StoreCopySource else { return }
    var handles: [SessionHandle] = []
    while handles.count < count {
      // Handles are hashes: a random one has neighbours anywhere.
      let near = SessionIdentifier.random().handle.bytes
      let rows = try await source.rows(of: .sessions, after: [.bytes(near)], limit: 20)
      handles += rows.compactMap { if case .bytes(let bytes) = $0[0] { SessionHandle(bytes: bytes) } else { nil } }
      if rows.isEmpty { break }
    }
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
}
