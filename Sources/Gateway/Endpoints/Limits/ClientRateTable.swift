internal import Sessions
internal import WebFormats

/// Token buckets of clients in a table of fixed size: each client may act ``SignInRate/count`` times at once, and again
/// as time passes.
///
/// The table has groups of eight slots, and a client belongs to one group by a hash with a random seed. If its group is
/// full, a new client replaces the client with the fullest bucket, and inherits its level (the method of the
/// Space-Saving sketch, Metwally and others, 2005). So a client gains nothing by being replaced: the minimum of a group
/// only grows with its events. A new client is refused only while all eight clients of its group are.
struct ClientRateTable {
  /// The interval between two events at the full rate, in nanoseconds.
  private let interval: UInt64
  /// The burst: the time that a client may be ahead of its rate, in nanoseconds.
  private let burst: UInt64
  private let groupCount: Int
  /// The slots, in groups of ``groupSize``.
  private var slots: [Slot]

  private struct Slot {
    var client: UInt64 = 0
    /// The time at which the bucket is full again; 0 for an unused slot.
    var fullAt: UInt64 = 0
  }

  /// The number of clients in a group.
  static let groupSize = 8
  /// The number of groups of the gateway's table, which takes 1 MiB.
  static let standardGroupCount = 8_192

  init(_ rate: SignInRate, groupCount: Int = Self.standardGroupCount) {
    let count = UInt64(max(rate.count, 1))
    interval = max(rate.period.nanoseconds / count, 1)
    burst = interval * (count - 1)
    self.groupCount = max(groupCount, 1)
    slots = Array(repeating: Slot(), count: self.groupCount * Self.groupSize)
  }

  /// The table with another rate: each client has acted as often as before, but at most as often as the other rate
  /// admits at once, so that none waits for more than one interval longer than that.
  func adapted(to rate: SignInRate, at now: UInt64) -> ClientRateTable {
    var table = ClientRateTable(rate, groupCount: groupCount)
    let most = Double(table.burst + table.interval)
    for (index, slot) in slots.enumerated() where slot.fullAt > now {
      let events = Double(slot.fullAt - now) / Double(interval)
      let ahead = UInt64(min(events * Double(table.interval), most))
      table.slots[index] = Slot(client: slot.client, fullAt: now + ahead)
    }
    return table
  }

  /// Counts an event of a client, unless it exceeds the rate. Refused events are not counted.
  /// - Parameter now: nanoseconds of a clock that does not go back.
  /// - Returns: nil, or the seconds after which the client may act again, at least 1.
  mutating func refusal(of client: ClientNetwork, at now: UInt64) -> Int? {
    let first = group(of: client) * Self.groupSize
    let group = first..<first + Self.groupSize
    let own = group.first { slots[$0].client == client.bits && slots[$0].fullAt > 0 }
    guard let slot = own ?? group.min(by: { slots[$0].fullAt < slots[$1].fullAt }) else { return nil }
    let fullAt = max(slots[slot].fullAt, now)
    guard fullAt - now <= burst else {
      return Int(clamping: (fullAt - now - burst + 999_999_999) / 1_000_000_000)
    }
    slots[slot] = Slot(client: client.bits, fullAt: fullAt + interval)
    return nil
  }

  private func group(of client: ClientNetwork) -> Int {
    // Seeded for each process, so that an attacker cannot choose addresses of one group.
    var hasher = Hasher()
    hasher.combine(client.bits)
    return Int(UInt(bitPattern: hasher.finalize()) % UInt(groupCount))
  }
}
