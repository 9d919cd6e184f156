/// Collects what lies below each folder: a path that continues, after a slash, as that of an entry.
///
/// Each row is that of all entries together: a request that acts on what is below a folder needs all of them.
struct FolderRows {
  /// The folder of each node of the lenient trie that a slash leads to; -1 for all other nodes.
  private(set) var ofNode: [Int32]
  /// The folder that each folder is in; -1 without one. It has a lower number.
  private var parents: [Int] = []
  /// The row of each folder: of the entries added, until ``folders(_:)`` adds those of the folders in it.
  private var below: [Int32] = []
  /// The row that restricts nobody.
  private let open: Int32
  /// The rows of two rows together.
  private var unions: [Pair: Int32] = [:]

  private struct Pair: Hashable {
    var one: Int32
    var other: Int32
  }

  /// - Parameters:
  ///   - nodeCount: the nodes of the complete lenient trie.
  ///   - open: the number of the decision that restricts nobody.
  init(nodeCount: Int, open: Int32) {
    ofNode = [Int32](repeating: -1, count: nodeCount)
    self.open = open
  }

  /// Adds an entry to the folder that it is in, and its path's folders.
  /// - Parameters:
  ///   - row: the row of the entry.
  ///   - path: its path as it is read leniently, without the trailing slash.
  mutating func add(_ row: Int32, at path: [UInt8], in loose: ByteTrie, _ rows: inout RouteRows) {
    var node = 0
    var folder = -1
    for byte in path {
      node = loose.child(of: node, byte)
      guard byte == UInt8(ascii: "/") else { continue }
      if ofNode[node] < 0 {
        ofNode[node] = Int32(parents.count)
        parents.append(folder)
        below.append(open)
      }
      folder = Int(ofNode[node])
    }
    if folder >= 0 { below[folder] = union(below[folder], row, &rows) }
  }

  /// The row of everything below each folder. The time is proportional to the number of folders.
  mutating func folders(_ rows: inout RouteRows) -> [Int32] {
    // From the innermost folders outwards.
    for folder in parents.indices.reversed() where parents[folder] >= 0 {
      let parent = parents[folder]
      below[parent] = union(below[parent], below[folder], &rows)
    }
    return below.map { $0 == open ? RouteTree.noRow : $0 }
  }

  /// The row of what meets two rows.
  /// - Parameters:
  ///   - one: a row of folders.
  ///   - other: a row of folders or of an entry.
  private mutating func union(_ one: Int32, _ other: Int32, _ rows: inout RouteRows) -> Int32 {
    if one == other { return one }
    let pair = Pair(one: one, other: other)
    if let known = unions[pair] { return known }
    let methods = one >= 0 && other >= 0 ? 1 : rows.stride
    var numbers: [Int32] = []
    numbers.reserveCapacity(methods)
    for method in 0..<methods {
      let (mine, theirs) = (rows.number(one, method), rows.number(other, method))
      // A request for signing out reaches nothing of the application.
      if theirs == RouteTree.noDecision || rows.decisions[Int(theirs)].access == .signOut {
        numbers.append(mine)
      } else {
        let both = rows.decisions[Int(mine)].restricted(by: rows.decisions[Int(theirs)])
        numbers.append(rows.number(of: both))
      }
    }
    let result = rows.add(numbers)
    unions[pair] = result
    return result
  }
}
