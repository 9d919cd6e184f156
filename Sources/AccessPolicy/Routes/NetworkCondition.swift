package import WebFormats

/// The networks of several places of the configuration, each of which must contain the client's address.
package struct NetworkCondition: Sendable, Hashable {
  private let sets: Set<NetworkSet>

  init(_ lists: [[NetworkPrefix]]) { sets = Set(lists.map { NetworkSet($0) }) }

  /// Whether an address is in all of them. An unknown address never is.
  package func contains(_ address: IPAddress?) -> Bool {
    guard let address else { return false }
    return sets.allSatisfy { $0.contains(address) }
  }
}
