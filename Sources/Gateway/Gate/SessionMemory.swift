internal import Sessions

/// The cookies that one event loop has verified lately, and what became of each.
///
/// Bounded: two generations, of which the younger becomes the older when it is full, and the older goes. What is used
/// stays; nothing is lost that the store does not have.
struct SessionMemory {
  /// What is known of a cookie.
  enum Known {
    case session(SessionEntry)
    /// No such session, or no longer; asked again after this moment.
    case absent(until: Int64)
    /// The store could not be asked; asked again after this moment.
    case storeAway(until: Int64)
  }

  private var young: [CookieFingerprint: Known] = [:]
  private var old: [CookieFingerprint: Known] = [:]
  private var byHandle: [SessionHandle: SessionEntry] = [:]
  /// Sessions that ended a moment ago, so that an answer of the store that was under way does not bring one back.
  private var justEnded: [SessionHandle: Int64] = [:]
  private let generationLimit: Int

  /// How long an end is remembered: longer than any answer of the store takes.
  private static let endMemory: Int64 = 60_000

  /// - Parameter limit: most cookies remembered.
  init(limit: Int) { generationLimit = max(limit / 2, 1) }

  /// How many sessions are remembered.
  var count: Int { byHandle.count }

  mutating func find(_ fingerprint: CookieFingerprint) -> Known? {
    if let known = young[fingerprint] { return known }
    guard let known = old.removeValue(forKey: fingerprint) else { return nil }
    keep(known, fingerprint)
    return known
  }

  mutating func insert(_ known: Known, for fingerprint: CookieFingerprint) {
    if case .session(let entry) = known {
      guard justEnded[entry.snapshot.session.handle] == nil else { return }
      // The newer of two answers about one session is the one to keep.
      byHandle[entry.snapshot.session.handle]?.isEnded = true
      byHandle[entry.snapshot.session.handle] = entry
    }
    keep(known, fingerprint)
  }

  mutating func remove(_ fingerprint: CookieFingerprint) {
    for known in [young.removeValue(forKey: fingerprint), old.removeValue(forKey: fingerprint)] {
      if case .session(let entry) = known { forget(entry) }
    }
  }

  /// Sessions have ended: whoever holds their cookie is nobody from now on.
  mutating func end(_ handles: [SessionHandle], now: Int64) {
    if justEnded.count > 4_096 { justEnded = justEnded.filter { $0.value > now } }
    for handle in handles {
      justEnded[handle] = now + Self.endMemory
      byHandle.removeValue(forKey: handle)?.isEnded = true
    }
  }

  /// What is known of an account has changed: its sessions are looked up again.
  mutating func forget(_ subject: Subject) {
    for (handle, entry) in byHandle where entry.snapshot.account.subject == subject {
      entry.isEnded = true
      byHandle[handle] = nil
    }
  }

  /// Everything is looked up again.
  mutating func removeAll() {
    for entry in byHandle.values { entry.isEnded = true }
    byHandle = [:]
    young = [:]
    old = [:]
  }

  private mutating func keep(_ known: Known, _ fingerprint: CookieFingerprint) {
    if young.count >= generationLimit {
      for case .session(let entry) in old.values { forget(entry) }
      old = young
      young = [:]
    }
    young[fingerprint] = known
  }

  private mutating func forget(_ entry: SessionEntry) {
    let handle = entry.snapshot.session.handle
    if byHandle[handle] === entry { byHandle[handle] = nil }
  }
}
