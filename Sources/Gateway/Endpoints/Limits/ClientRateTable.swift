internal import Sessions
internal import WebFormats

/// Token buckets of clients in a table of fixed size: each client may act ``SignInRate/count`` times at once, and again
/// as time passes.
///
/// The table has groups of eight places, and a client belongs to one group by a hash with a random seed. If its group
/// is full, a new client takes the place of the client with the fullest bucket, with what that bucket holds (the method
/// of the Space-Saving sketch, Metwally and others, 2005). So nobody gains by being displaced: what is least in a group
/// only grows with its events. And a new client is refused only while all eight clients of its group are.
struct ClientRateTable {
  /// Between two events of a client that uses its rate up, in nanoseconds.
  private let interval: UInt64
  /// The time that a client may be ahead of its rate, in nanoseconds.
  private let burst: UInt64
  private let groupCount: Int
  /// Groups of ``groupSize`` places.
  private var places: [Place]

  private struct Place {
    var client: UInt64 = 0
    /// The time at which the bucket is full again; 0 for a place that was never used.
    var fullAt: UInt64 = 0
  }

  /// Clients that one group has room for.
  static let groupSize = 8
  /// Groups of the gateway's table, which takes 1 MiB.
  static let standardGroupCount = 8_192

  init(_ rate: SignInRate, groupCount: Int = Self.standardGroupCount) {
    let count = UInt64(max(rate.count, 1))
    interval = max(rate.period.nanoseconds / count, 1)
    burst = interval * (count - 1)
    self.groupCount = max(groupCount, 1)
    places = Array(repeating: Place(), count: self.groupCount * Self.groupSize)
  }

  /// Counts an event of a client, unless it is one too many. Refused events are not counted.
  /// - Parameter now: nanoseconds of a clock that does not go back.
  /// - Returns: nil, or the seconds after which the client may act again, at least 1.
  mutating func refusal(of client: ClientNetwork, at now: UInt64) -> Int? {
    let first = group(of: client) * Self.groupSize
    let group = first..<first + Self.groupSize
    let own = group.first { places[$0].client == client.bits && places[$0].fullAt > 0 }
    guard let place = own ?? group.min(by: { places[$0].fullAt < places[$1].fullAt }) else { return nil }
    let fullAt = max(places[place].fullAt, now)
    guard fullAt - now <= burst else {
      return Int(clamping: (fullAt - now - burst + 999_999_999) / 1_000_000_000)
    }
    places[place] = Place(client: client.bits, fullAt: fullAt + interval)
    return nil
  }

  private func group(of client: ClientNetwork) -> Int {
    // Seeded for each process, so that nobody can choose addresses of one group.
    var hasher = Hasher()
    hasher.combine(client.bits)
    return Int(UInt(bitPattern: hasher.finalize()) % UInt(groupCount))
  }
}
