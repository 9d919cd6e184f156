/// Indexes into ``RouteTable/rules``: one, or several where a path has several readings.
package typealias RuleIndexes = SortedIndexes<SIMD8<Int32>>

/// Indexes into ``RouteTable/networks``: none, one, or several where a path has several readings.
package typealias NetworkIndexes = SortedIndexes<SIMD4<Int32>>

/// A small set of indexes in one value without a reference, so that a ``RouteDecision`` is cheap to copy. It holds at
/// most ``limit``: one for each scalar of its storage.
///
/// Its look-ups are inlined in other modules, for which the type has to be `@usableFromInline`.
@usableFromInline
package struct SortedIndexes<Storage: SIMD & Sendable>: Sendable, Hashable, ExpressibleByArrayLiteral
where Storage.Scalar == Int32 {
  /// In ascending order, followed by -1.
  @usableFromInline private(set) var elements = Storage(repeating: -1)

  /// No index.
  package init() {}

  init(_ index: Int) { elements[0] = Int32(truncatingIfNeeded: index) }

  /// - Precondition: at most ``limit`` elements.
  @usableFromInline
  package init(arrayLiteral elements: Int...) {
    for element in elements {
      let isInserted = insert(Int32(truncatingIfNeeded: element))
      precondition(isInserted)
    }
  }

  /// Most indexes that one decision can name.
  package static var limit: Int { Storage.scalarCount }

  /// Whether there is no index.
  @inlinable @inline(__always)
  package var isEmpty: Bool { elements[0] < 0 }

  /// The number of elements.
  @inlinable
  package var count: Int {
    var count = 0
    while count < Storage.scalarCount, elements[count] >= 0 { count += 1 }
    return count
  }

  /// The element at a position below ``count``.
  @inlinable @inline(__always)
  package subscript(position: Int) -> Int { Int(elements[position]) }

  /// Hashes only the elements, because decisions are looked up by the thousand when routes are compiled.
  @usableFromInline
  package func hash(into hasher: inout Hasher) {
    let count = count
    hasher.combine(count)
    for position in 0..<count { hasher.combine(elements[position]) }
  }

  /// The union; nil if it exceeds ``limit``.
  func union(_ others: Self) -> Self? {
    if others.isEmpty || others == self { return self }
    var result = self
    for position in 0..<others.count {
      guard result.insert(others.elements[position]) else { return nil }
    }
    return result
  }

  private mutating func insert(_ index: Int32) -> Bool {
    let count = count
    var position = 0
    while position < count, elements[position] < index { position += 1 }
    if position < count, elements[position] == index { return true }
    guard count < Self.limit else { return false }
    var last = count
    while last > position {
      elements[last] = elements[last - 1]
      last -= 1
    }
    elements[position] = index
    return true
  }
}
