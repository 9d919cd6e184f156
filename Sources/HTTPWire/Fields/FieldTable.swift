/// Ranges of one field line in the bytes of its head.
@usableFromInline
package struct FieldLine: Sendable, Equatable {
  /// First byte of the name.
  @usableFromInline package var start: Int32
  /// Bytes of the name.
  @usableFromInline package var nameLength: Int32
  /// First byte of the value, optional white space skipped.
  @usableFromInline package var valueStart: Int32
  /// After the last byte of the value, optional white space skipped.
  @usableFromInline package var valueEnd: Int32
  /// After the line's CR LF.
  package var end: Int32
  /// The known field that the name is.
  package var known: KnownField

  /// The field name, in the bytes of the head.
  @inlinable @inline(__always)
  package var name: Range<Int> { Int(start)..<Int(start + nameLength) }
  /// The field value without the white space around it, in the bytes of the head; may be empty.
  @inlinable @inline(__always)
  package var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

/// The field lines of a head, in their order, and the first place of each known field.
///
/// One table serves an event loop: it is emptied and filled again for each head, so that a head costs no allocation.
/// Its look-ups are inlined in other modules, for which the type has to be `@usableFromInline`, too: a call would copy
/// the table onto the stack for its argument.
@usableFromInline
package struct FieldTable: ~Copyable, Sendable {
  /// Every line, in order.
  @usableFromInline package private(set) var lines: [FieldLine] = []
  /// For each known field the index of its first line plus one; zero where it is absent.
  @usableFromInline private(set) var first = InlineArray<64, UInt16>(repeating: 0)
  /// A bit for each known field that came more than once.
  @usableFromInline private(set) var repeated: UInt64 = 0
  /// The names in the lists of the `Connection` lines, other than the usual options (RFC 9110, 7.6.1): recorded once,
  /// because each line is compared with each of them. At most ``ConnectionOptions/nominationLimit``.
  package internal(set) var nominations: [Range<Int>] = []

  /// - Parameter capacity: lines for which memory is taken at once.
  package init(capacity: Int = 64) { lines.reserveCapacity(capacity) }

  /// The index of the first line of `field`.
  @inlinable @inline(__always)
  package func index(of field: KnownField) -> Int? {
    let place = first[Int(field.rawValue)]
    return place == 0 ? nil : Int(place) - 1
  }

  /// The first line of `field`.
  @inlinable @inline(__always)
  package func line(_ field: KnownField) -> FieldLine? {
    guard let index = index(of: field) else { return nil }
    return lines[index]
  }

  /// Whether `field` came at all.
  @inlinable @inline(__always)
  package func has(_ field: KnownField) -> Bool { first[Int(field.rawValue)] != 0 }

  /// Whether `field` came more than once.
  @inlinable @inline(__always)
  package func isRepeated(_ field: KnownField) -> Bool { repeated & (1 << UInt64(field.rawValue)) != 0 }

  @inline(__always)
  mutating func append(_ line: FieldLine) {
    lines.append(line)
    guard line.known != .other else { return }
    let slot = Int(line.known.rawValue)
    if first[slot] == 0 {
      first[slot] = UInt16(truncatingIfNeeded: lines.count)
    } else {
      repeated |= 1 << UInt64(line.known.rawValue)
    }
  }

  @inline(__always)
  mutating func removeAll() {
    first = InlineArray(repeating: 0)
    lines.removeAll(keepingCapacity: true)
    repeated = 0
    if !nominations.isEmpty { nominations.removeAll(keepingCapacity: true) }
  }
}

/// Maximum number of fields that `FieldTable` can index. A configured limit is below it.
package let maximumFieldCount = 60_000
