/// Collects what lies below each folder: a path that continues, after a slash, as that of an entry.
///
/// Each row is that of all entries together: a request that acts on what is below a folder needs all of them.
struct FolderRows {
  /// The folder of each node of the lenient trie that a slash leads to; -1 for all other nodes.
  private(set) var ofNode: [Int32]
  /// The folder that each folder is in; -1 without one. It has a lower number.
  private var parents: [Int] = []
  /// The row of each folder's direct members.
  private var members: [Int32] = []
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
        members.append(open)
      }
      folder = Int(ofNode[node])
    }
    if folder >= 0 { members[folder] = union(members[folder], row, &rows) }
  }

  /// The rows of each folder. The time is proportional to the number of folders.
  mutating func folders(_ rows: inout RouteRows) -> [RouteTree.Folder] {
    var all = members
    // From the innermost folders outwards.
    for folder in parents.indices.reversed() where parents[folder] >= 0 {
      let parent = parents[folder]
      all[parent] = union(all[parent], all[folder], &rows)
    }
    return members.indices.map { folder in
      RouteTree.Folder(
        members: members[folder] == open ? RouteTree.noRow : members[folder],
        everything: all[folder] == open ? RouteTree.noRow : all[folder])
    }
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
