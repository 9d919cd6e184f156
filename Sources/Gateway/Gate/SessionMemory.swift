internal import FoundationEssentials
internal import Sessions

/// The cookies that one event loop has verified lately, and what became of each.
///
/// Bounded by a budget of bytes: two generations, of which the younger becomes the older when half of the budget is used
/// up, and the older goes. What is used stays; nothing is lost that the store does not have.
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
  /// The sessions of each account: every sign-in and every daily check asks for those of one, whatever else is remembered.
  private var bySubject: [Subject: [SessionHandle]] = [:]
  /// Sessions that ended a moment ago, so that an answer of the store that was under way does not bring one back.
  private var justEnded: [SessionHandle: Int64] = [:]
  /// At how many of them those are looked for that ended longer ago.
  private var justEndedLimit = fewEnded
  /// What the younger generation takes, in bytes, about.
  private var youngBytes = 0
  private var oldBytes = 0
  /// Bytes that the memory may take.
  var budget: Int

  /// How long an end is remembered: longer than any answer of the store takes.
  private static let endMemory: Int64 = 60_000

  private static let fewEnded = 4_096

  /// What an answer takes beside the session that it names: places in tables that are half empty at worst.
  private static let placeBytes = 128

  /// - Parameter budget: in bytes.
  init(budget: Int) { self.budget = budget }

  /// What it takes just now, in bytes, about.
  var bytes: Int { youngBytes + oldBytes }

  /// How many sessions are remembered.
  var count: Int { byHandle.count }

  mutating func find(_ fingerprint: CookieFingerprint) -> Known? {
    if let known = young[fingerprint] { return known }
    guard let known = old.removeValue(forKey: fingerprint) else { return nil }
    oldBytes -= Self.bytes(of: known)
    keep(known, fingerprint)
    return known
  }

  /// The session of this handle with its account, if it is remembered and has not ended, with when it was last seen here.
  func snapshot(of handle: SessionHandle) -> SessionSnapshot? {
    guard let entry = byHandle[handle], !entry.isEnded else { return nil }
    var session = entry.snapshot.session
    session.lastSeen = max(session.lastSeen, Date(wallClock: entry.lastSeen))
    return SessionSnapshot(session: session, account: entry.snapshot.account)
  }

  mutating func insert(_ known: Known, for fingerprint: CookieFingerprint) {
    if case .session(let entry) = known {
      guard justEnded[entry.snapshot.session.handle] == nil else { return }
      // The newer of two answers about one session is the one to keep.
      drop(entry.snapshot.session.handle)?.isEnded = true
      byHandle[entry.snapshot.session.handle] = entry
      bySubject[entry.snapshot.account.subject, default: []].append(entry.snapshot.session.handle)
    }
    keep(known, fingerprint)
  }

  mutating func remove(_ fingerprint: CookieFingerprint) {
    if let known = young.removeValue(forKey: fingerprint) {
      youngBytes -= Self.bytes(of: known)
      if case .session(let entry) = known { forget(entry) }
    }
    if let known = old.removeValue(forKey: fingerprint) {
      oldBytes -= Self.bytes(of: known)
      if case .session(let entry) = known { forget(entry) }
    }
  }

  /// Sessions have ended: whoever holds their cookie is nobody from now on.
  mutating func end(_ handles: [SessionHandle], now: Int64) {
    if justEnded.count > justEndedLimit {
      justEnded = justEnded.filter { $0.value > now }
      // Not again before as many have come, however many end in a minute.
      justEndedLimit = max(Self.fewEnded, 2 * justEnded.count)
    }
    for handle in handles {
      justEnded[handle] = now + Self.endMemory
      drop(handle)?.isEnded = true
    }
  }

  /// What is known of an account has changed: its sessions are looked up again.
  mutating func forget(_ subject: Subject) {
    for handle in bySubject.removeValue(forKey: subject) ?? [] {
      byHandle.removeValue(forKey: handle)?.isEnded = true
    }
  }

  /// Everything is looked up again.
  mutating func removeAll() {
    for entry in byHandle.values { entry.isEnded = true }
    byHandle = [:]
    bySubject = [:]
    young = [:]
    old = [:]
    youngBytes = 0
    oldBytes = 0
  }

  private static func bytes(of known: Known) -> Int {
    if case .session(let entry) = known { return placeBytes + entry.footprint }
    return placeBytes
  }

  private mutating func keep(_ known: Known, _ fingerprint: CookieFingerprint) {
    let bytes = Self.bytes(of: known)
    if !young.isEmpty, youngBytes + bytes > budget / 2 {
      for case .session(let entry) in old.values { forget(entry) }
      old = young
      oldBytes = youngBytes
      young = [:]
      youngBytes = 0
    }
    if let replaced = young.updateValue(known, forKey: fingerprint) { youngBytes -= Self.bytes(of: replaced) }
    youngBytes += bytes
  }

  private mutating func forget(_ entry: SessionEntry) {
    let handle = entry.snapshot.session.handle
    if byHandle[handle] === entry { drop(handle) }
  }

  /// Out of the sessions and out of those of its account.
  @discardableResult
  private mutating func drop(_ handle: SessionHandle) -> SessionEntry? {
    guard let entry = byHandle.removeValue(forKey: handle) else { return nil }
    let subject = entry.snapshot.account.subject
    guard var others = bySubject.removeValue(forKey: subject) else { return entry }
    others.removeAll { $0 == handle }
    if !others.isEmpty { bySubject[subject] = others }
    return entry
  }
}
