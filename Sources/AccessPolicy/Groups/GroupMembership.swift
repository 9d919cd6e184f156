/// The groups of one user.
package struct GroupMembership: Sendable, Equatable {
  /// Groups that admit: by subject, by the store, and by a verified address.
  package var groups = GroupSet()
  /// Groups that deny: those, and by an address that is not verified, and by the subject of another team.
  package var deniable = GroupSet()

  /// The membership of a user in no group.
  package init() {}

  init(groups: GroupSet, deniable: GroupSet) {
    self.groups = groups
    self.deniable = deniable
  }
}

/// A set of the numbers of groups.
package struct GroupSet: Sendable, Hashable {
  /// 64 groups a word; no zero words at the end, so that equal sets are equal.
  private var words: [UInt64] = []

  /// The empty set.
  package init() {}

  /// The set of these numbers, which are not negative and may repeat.
  package init(_ numbers: some Sequence<Int>) {
    for number in numbers {
      let place = number >> 6
      while words.count <= place { words.append(0) }
      words[place] |= 1 << UInt64(number & 63)
    }
  }

  /// Whether there is no group in the set.
  package var isEmpty: Bool { words.isEmpty }

  /// Whether a group is in the set; false for numbers of no group.
  /// - Parameter number: not negative.
  package func contains(_ number: Int) -> Bool {
    number >> 6 < words.count && words[number >> 6] & 1 << UInt64(number & 63) != 0
  }

  /// Whether the two have a group in common.
  package func intersects(_ other: GroupSet) -> Bool { zip(words, other.words).contains { $0 & $1 != 0 } }

  /// Adds the groups of another set.
  package mutating func formUnion(_ other: GroupSet) {
    while words.count < other.words.count { words.append(0) }
    for place in other.words.indices { words[place] |= other.words[place] }
  }

  /// The groups that are in either set.
  package func union(_ other: GroupSet) -> GroupSet {
    var result = self
    result.formUnion(other)
    return result
  }
}
