#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A sorted set of byte strings, found by binary search. They are stored contiguously: lists of members may be long,
/// and an allocation for each member would take more memory than the members.
struct SortedByteStrings: Sendable, Hashable {
  private var bytes: [UInt8] = []
  /// The offset after the last byte of each string.
  private var ends: [Int] = []

  var count: Int { ends.count }
  var isEmpty: Bool { ends.isEmpty }

  /// - Parameters:
  ///   - strings: in any order.
  ///   - place: is called for each of them, with its number among `strings` and its index in the result.
  init(_ strings: some Sequence<some Sequence<UInt8>>, place: (_ number: Int, _ index: Int) -> Void = { _, _ in }) {
    var unsorted: [UInt8] = []
    var ranges: [Range<Int>] = []
    for string in strings {
      let start = unsorted.count
      unsorted.append(contentsOf: string)
      ranges.append(start..<unsorted.count)
    }
    bytes.reserveCapacity(unsorted.count)
    ends.reserveCapacity(ranges.count)
    unsorted.withUnsafeBytes { unsorted in
      let order = ranges.indices.sorted {
        Self.compare(Self.slice(unsorted, ranges[$0]), Self.slice(unsorted, ranges[$1])) < 0
      }
      for number in order {
        let string = Self.slice(unsorted, ranges[number])
        if index(of: string, from: max(ends.count - 1, 0)) == nil {
          bytes.append(contentsOf: string)
          ends.append(bytes.count)
        }
        place(number, ends.count - 1)
      }
    }
  }

  func contains(_ string: [UInt8]) -> Bool { index(of: string) != nil }

  /// The index of a string; nil if it is not there.
  func index(of string: [UInt8]) -> Int? { string.withUnsafeBytes { index(of: $0, from: 0) } }

  private func index(of string: UnsafeRawBufferPointer, from start: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      var (low, high) = (start, ends.count)
      while low < high {
        let middle = low + (high - low) / 2
        let found = Self.slice(bytes, (middle == 0 ? 0 : ends[middle - 1])..<ends[middle])
        let order = Self.compare(found, string)
        if order == 0 { return middle }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return nil
    }
  }

  private static func slice(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  /// Negative if the first comes before the second, 0 if they are equal: byte by byte, a prefix before the whole.
  private static func compare(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
    let common = min(first.count, second.count)
    if common > 0, let one = first.baseAddress, let other = second.baseAddress {
      let order = memcmp(one, other, common)
      if order != 0 { return Int(order) }
    }
    return first.count - second.count
  }
}
