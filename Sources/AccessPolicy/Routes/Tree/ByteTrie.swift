/// A trie over byte strings. All edges are in one hash table, so that the cost of a step depends neither on the number
/// of strings nor on the branching of a node.
struct ByteTrie: Sendable {
  /// One edge each: the parent (28 bits), the byte (8 bits), the child (28 bits); 0 is an empty slot, as no child is 0.
  private var slots = [UInt64](repeating: 0, count: 16)
  /// The shift that turns a 64-bit hash into an index of `slots`, whose count is a power of two.
  private var shift: UInt64 = 60
  /// Nodes, the root (0) among them.
  private(set) var nodeCount = 1

  /// The child of `node` for `byte`; -1 if there is none.
  @inline(__always)
  func child(of node: Int, _ byte: UInt8) -> Int {
    let slot = slots[place(of: node, byte)]
    return slot == 0 ? -1 : Int(slot & 0xFFF_FFFF)
  }

  /// The node of a byte string; nil if there is none.
  func node(of bytes: some Sequence<UInt8>) -> Int? {
    var node = 0
    for byte in bytes {
      node = child(of: node, byte)
      if node < 0 { return nil }
    }
    return node
  }

  /// The node of a byte string, which is created if it is missing.
  mutating func insert(_ bytes: some Sequence<UInt8>) -> Int {
    var node = 0
    for byte in bytes {
      let place = place(of: node, byte)
      if slots[place] != 0 {
        node = Int(slots[place] & 0xFFF_FFFF)
      } else {
        // A configuration of 1 MiB cannot need so many nodes.
        precondition(nodeCount < 0xFFF_FFFF)
        slots[place] = Self.key(node, byte) << 28 | UInt64(nodeCount)
        node = nodeCount
        nodeCount += 1
        if nodeCount * 2 > slots.count { grow() }
      }
    }
    return node
  }

  /// The slot of an edge, or the empty slot for it.
  @inline(__always)
  private func place(of node: Int, _ byte: UInt8) -> Int {
    let key = Self.key(node, byte)
    var place = Int((key &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while slots[place] != 0, slots[place] >> 28 != key { place = (place + 1) & (slots.count - 1) }
    return place
  }

  @inline(__always)
  private static func key(_ node: Int, _ byte: UInt8) -> UInt64 { UInt64(node) << 8 | UInt64(byte) }

  private mutating func grow() {
    let edges = slots
    slots = [UInt64](repeating: 0, count: edges.count * 2)
    shift -= 1
    for edge in edges where edge != 0 {
      let key = edge >> 28
      slots[place(of: Int(key >> 8), UInt8(truncatingIfNeeded: key))] = edge
    }
  }
}
