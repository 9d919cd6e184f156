internal import WebFormats

/// The applications that upstreams lead to. Upstreams with an address and a stated `host` in common have one
/// application, as with another timeout for some of its paths. One address with several `host`s is a server with
/// virtual hosts.
package struct UpstreamApplications: Sendable {
  /// The place of the first upstream of the same application, for each upstream.
  package let first: [Int]

  private struct Place: Hashable {
    let address: UpstreamAddress
    let host: [UInt8]?
  }

  /// - Parameters:
  ///   - upstreams: all of a configuration.
  ///   - separatesHosts: whether upstreams of one address with another `host` have another application.
  package init(_ upstreams: [UpstreamSettings], separatesHosts: Bool = true) {
    var before = Array(upstreams.indices)
    func root(_ place: Int) -> Int {
      var place = place
      while before[place] != place {
        before[place] = before[before[place]]
        place = before[place]
      }
      return place
    }
    var known: [Place: Int] = [:]
    for (place, settings) in upstreams.enumerated() {
      let host = separatesHosts ? settings.host?.utf8.map(\.asciiLowercased) : nil
      for address in settings.addresses.map(\.inOneSpelling) {
        let key = Place(address: address, host: host)
        let (one, other) = (root(place), root(known[key] ?? place))
        before[max(one, other)] = min(one, other)
        known[key] = place
      }
    }
    first = upstreams.indices.map { root($0) }
  }
}
