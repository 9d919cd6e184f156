/// The result of parsing a head.
package enum HeadParse: Sendable, Equatable {
  /// The head is incomplete and valid so far.
  case incomplete
  /// The head is complete, and its ranges are in the table.
  case complete
  /// The head is refused.
  case violation(HeadViolation)
}

/// Limits of one head.
package struct HeadLimits: Sendable, Equatable {
  /// Bytes of the head, up to 65,535.
  package var headBytes: Int
  /// Field lines.
  package var fieldCount: Int
  /// Bytes of the request target.
  package var targetBytes: Int

  /// Limits of a head; `headBytes` beyond 65,535 and `fieldCount` beyond ``maximumFieldCount`` are lowered to these.
  package init(headBytes: Int, fieldCount: Int, targetBytes: Int) {
    self.headBytes = min(headBytes, 65_535)
    self.fieldCount = min(fieldCount, maximumFieldCount)
    self.targetBytes = targetBytes
  }
}

/// Parses field lines, of requests and responses.
struct FieldLineParser {
  /// Offset of the next line.
  var offset: Int
  /// Whether white space before the colon is skipped (responses; RFC 9112, 5.1) instead of refused.
  let removesSpaceBeforeColon: Bool

  enum Step {
    case line(FieldLine)
    case end
    case incomplete
    case violation(HeadViolation)
  }

  /// Reads every line up to the empty one into `fields`; `offset` is after the last line then.
  @inline(__always)
  mutating func readAll(_ bytes: RawSpan, into fields: inout FieldTable, limits: HeadLimits) -> HeadParse {
    while true {
      switch next(bytes) {
      case .line(let line):
        guard fields.lines.count < limits.fieldCount else { return .violation(.tooManyFields) }
        fields.append(line)
        guard offset <= limits.headBytes else { return .violation(.headTooLarge) }
      case .end: return .complete
      case .incomplete: return bytes.byteCount > limits.headBytes ? .violation(.headTooLarge) : .incomplete
      case .violation(let violation): return .violation(violation)
      }
    }
  }

  /// Reads one field line, or the empty line after the last.
  ///
  ///     field-line = field-name ":" OWS field-value OWS   (RFC 9112, 5)
  @inline(__always)
  mutating func next(_ bytes: RawSpan) -> Step {
    let start = offset
    let end = bytes.byteCount
    guard start < end else { return .incomplete }
    var cursor = bytes.endOfToken(from: start)
    guard cursor < end else { return .incomplete }
    let nameLength = cursor - start
    if bytes.byte(at: cursor) != 0x3A || nameLength == 0 {
      switch notAColon(bytes, start: start, cursor: cursor) {
      case .colon(let place): cursor = place
      case .step(let step): return step
      }
    }
    cursor += 1
    while cursor < end, bytes.byte(at: cursor) == 0x20 || bytes.byte(at: cursor) == 0x09 { cursor += 1 }
    let valueStart = cursor
    let stop = bytes.endOfFieldText(from: cursor)
    guard stop + 1 < end else {
      return stop < end && bytes.byte(at: stop) != 0x0D
        ? .violation(Self.badLineEnd(bytes.byte(at: stop))) : .incomplete
    }
    guard bytes.byte(at: stop) == 0x0D, bytes.byte(at: stop + 1) == 0x0A else {
      return .violation(Self.badLineEnd(bytes.byte(at: stop)))
    }
    var valueEnd = stop
    while valueEnd > valueStart, bytes.byte(at: valueEnd - 1) == 0x20 || bytes.byte(at: valueEnd - 1) == 0x09 {
      valueEnd -= 1
    }
    offset = stop + 2
    return .line(
      FieldLine(
        start: Int32(truncatingIfNeeded: start), nameLength: Int32(truncatingIfNeeded: nameLength),
        valueStart: Int32(truncatingIfNeeded: valueStart), valueEnd: Int32(truncatingIfNeeded: valueEnd),
        end: Int32(truncatingIfNeeded: offset), known: KnownField.classify(bytes, at: start, count: nameLength)))
  }

  private enum Oddity {
    case colon(Int)
    case step(Step)
  }

  /// Handles bytes other than a name and its colon: the empty line, white space, or a mistake.
  private func notAColon(_ bytes: RawSpan, start: Int, cursor: Int) -> Oddity {
    let end = bytes.byteCount
    let byte = bytes.byte(at: cursor)
    if cursor == start {
      switch byte {
      case 0x0D:
        guard start + 1 < end else { return .step(.incomplete) }
        return .step(bytes.byte(at: start + 1) == 0x0A ? .end : .violation(.lineEnding))
      case 0x0A: return .step(.violation(.lineEnding))
      case 0x20, 0x09: return .step(.violation(.obsoleteFolding))
      default: return .step(.violation(.fieldName))
      }
    }
    guard byte == 0x20 || byte == 0x09 else {
      return .step(.violation(byte == 0x0D || byte == 0x0A ? .lineEnding : .fieldName))
    }
    guard removesSpaceBeforeColon else { return .step(.violation(.spaceBeforeColon)) }
    var place = cursor
    while place < end, bytes.byte(at: place) == 0x20 || bytes.byte(at: place) == 0x09 { place += 1 }
    guard place < end else { return .step(.incomplete) }
    return bytes.byte(at: place) == 0x3A ? .colon(place) : .step(.violation(.fieldName))
  }

  /// The violation of a byte that is neither part of a value nor the CR of a whole line end.
  static func badLineEnd(_ byte: UInt8) -> HeadViolation {
    byte == 0x0D || byte == 0x0A ? .lineEnding : .fieldValue
  }
}

extension RawSpan {
  /// A decimal number without sign, of at most 18 digits (so that no sum with it overflows), or nil.
  func decimal(_ range: Range<Int>) -> Int? {
    guard !range.isEmpty, range.count <= 18 else { return nil }
    var value = 0
    for offset in range {
      let digit = byte(at: offset) &- 0x30
      guard digit < 10 else { return nil }
      value = value * 10 + Int(digit)
    }
    return value
  }

  /// Whether only spaces are between the value of `line` and its end. RFC 9110, 5.6.3 allows tabs there, but not every
  /// parser accepts them after a framing field (llhttp does not), and no client sends them.
  func isPlainlyEnded(_ line: FieldLine) -> Bool {
    (Int(line.valueEnd)..<Int(line.end) - 2).allSatisfy { byte(at: $0) == 0x20 }
  }

  /// Calls `body` with each non-empty element of the comma-separated list in `range` (RFC 9110, 5.6.1).
  package func forEachListElement(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var start = range.lowerBound
    while start <= range.upperBound {
      var end = start
      while end < range.upperBound, byte(at: end) != 0x2C { end += 1 }
      let element = trimmed(start..<end)
      if !element.isEmpty { body(element) }
      start = end + 1
    }
  }
}
