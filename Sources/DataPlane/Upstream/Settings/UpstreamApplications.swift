/// The applications that upstreams lead to. Upstreams with an address in common have one application, as with another
/// timeout for some of its paths.
package struct UpstreamApplications: Sendable {
  /// The place of the first upstream of the same application, for each upstream.
  package let first: [Int]

  /// - Parameter upstreams: all of a configuration.
  package init(_ upstreams: [UpstreamSettings]) {
    var before = Array(upstreams.indices)
    func root(_ place: Int) -> Int {
      var place = place
      while before[place] != place {
        before[place] = before[before[place]]
        place = before[place]
      }
      return place
    }
    var known: [UpstreamAddress: Int] = [:]
    for (place, settings) in upstreams.enumerated() {
      for address in settings.addresses.map(\.inOneSpelling) {
        let (one, other) = (root(place), root(known[address] ?? place))
        before[max(one, other)] = min(one, other)
        known[address] = place
      }
    }
    first = upstreams.indices.map { root($0) }
  }
}
