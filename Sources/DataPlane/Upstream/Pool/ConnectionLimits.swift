internal import Synchronization

/// The limits of connections by address and upstream. They outlive the groups of one configuration: connections and
/// waiting requests of before a reload count for the next one.
package final class ConnectionLimits: Sendable {
  private struct Entry {
    let connections = AddressConnections()
    /// By the bytes of the upstream's name.
    var limiters: [[UInt8]: WeakLimiter] = [:]
  }

  private struct WeakLimiter { weak var limiter: ConnectionLimiter? }

  private let addresses = Mutex<[UpstreamAddress: Entry]>([:])

  /// No limits yet.
  package init() {}

  /// The limiter of an upstream at one of its addresses. One that is in use has the limits that were applied last.
  func limiter(of settings: UpstreamSettings, to address: UpstreamAddress) -> ConnectionLimiter {
    let (key, name) = (address.inOneSpelling, Array(settings.name.utf8))
    return addresses.withLock { addresses -> ConnectionLimiter in
      var entry = addresses[key] ?? Entry()
      if let known = entry.limiters[name]?.limiter { return known }
      let new = ConnectionLimiter(
        limit: settings.maximumConnections, queueLimit: settings.queueLimit, at: entry.connections)
      entry.limiters[name] = WeakLimiter(limiter: new)
      addresses[key] = entry
      return new
    }
  }

  /// Applies the limits of a configuration.
  /// - Parameter groups: its upstreams.
  package func apply(_ groups: [UpstreamGroup]) {
    var limits: [ObjectIdentifier: [AddressConnections.ShareID: AddressConnections.ShareLimits]] = [:]
    for group in groups {
      let own = AddressConnections.ShareLimits(
        connections: group.settings.maximumConnections, queue: group.settings.queueLimit)
      for limiter in group.endpoints.map(\.limiter) {
        limits[ObjectIdentifier(limiter.address), default: [:]][limiter.share] = own
      }
    }
    let known = addresses.withLock { addresses -> [AddressConnections] in
      addresses = addresses.compactMapValues { entry in
        var entry = entry
        entry.limiters = entry.limiters.filter { $0.value.limiter != nil }
        return entry.limiters.isEmpty ? nil : entry
      }
      return addresses.values.map(\.connections)
    }
    for address in known { address.apply(limits[ObjectIdentifier(address)] ?? [:]) }
  }
}
