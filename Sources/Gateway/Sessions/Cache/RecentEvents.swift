/// Recent events by key, with their numbers, kept for longer than any answer of the store takes.
struct RecentEvents<Key: Hashable & Sendable> {
  private var events: [Key: (number: Int, time: Int64)] = [:]
  /// The number of events at which old ones are removed.
  private var limit = few
  /// The period in which old ones are removed at that number only.
  private var cleaned = Period.none

  /// The number of events that may stay beyond their time.
  static var few: Int { 4_096 }
  /// The time for which an event is kept at least, in milliseconds.
  static var memory: Int64 { 60_000 }

  /// The number of events that are kept.
  var count: Int { events.count }

  /// The number of the latest event; nil if it is forgotten.
  func number(of key: Key, now: Int64) -> Int? {
    guard let event = events[key], event.time > now - Self.memory else { return nil }
    return event.number
  }

  mutating func note(_ key: Key, number: Int = 0, now: Int64) {
    if events.count > limit || events.count > Self.few && !cleaned.contains(now) { clean(now) }
    // Events may arrive out of order: the later one counts.
    events[key] = (max(number, events[key]?.number ?? number), now)
  }

  /// Removes old events if that was not done for a while. To be called about once a minute: if no event follows a
  /// burst, nothing else frees its memory.
  mutating func removeOld(now: Int64) { if !events.isEmpty, !cleaned.contains(now) { clean(now) } }

  private mutating func clean(_ now: Int64) {
    events = events.filter { $0.value.time > now - Self.memory }
    // Amortized: the next clean-up comes after as many new events; or after a while, so that a burst is not kept.
    limit = max(Self.few, 2 * events.count)
    cleaned = Period(from: now, for: Self.memory)
  }
}
