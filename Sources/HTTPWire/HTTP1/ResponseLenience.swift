/// Mistakes in an upstream response head that may be repaired instead of refused (`upstream.lenient`).
package struct ResponseLenience: OptionSet, Sendable, Hashable {
  /// One bit for each mistake.
  package let rawValue: UInt8

  /// The mistakes of these bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Lines that end with LF alone (RFC 9112, 2.2).
  package static let bareLF = ResponseLenience(rawValue: 1)
  /// `Content-Length` more than once, or a list, with the same value (RFC 9110, 8.6).
  package static let duplicateLength = ResponseLenience(rawValue: 2)
  /// A status from 600 to 999 (RFC 9110, 15).
  package static let statusRange = ResponseLenience(rawValue: 4)
  /// Control characters in values and in the reason phrase: each becomes a space (RFC 9110, 5.5). Never CR.
  package static let controlBytes = ResponseLenience(rawValue: 8)
  /// `Transfer-Encoding: chunked` more than once, or beside `Content-Length`, which is removed (RFC 9112, 6.3). The
  /// connection ends after the response.
  package static let duplicateFraming = ResponseLenience(rawValue: 16)
}

/// Rewrites a response head with allowed mistakes into one that ``ResponseHeadParser`` takes, which has the last word:
/// nothing passes that it would refuse. Only asked for heads that were refused; it copies.
package enum ResponseHeadRepair {
  /// The result for the bytes that have arrived.
  package enum Outcome: Equatable {
    /// The end of the head is not there yet.
    case incomplete
    /// The repaired head, and the number of original bytes that it replaces.
    case head([UInt8], count: Int)
    /// No rewriting is allowed that would help.
    case none
  }

  /// - Parameter limit: most bytes of a head.
  package static func repair(_ bytes: RawSpan, _ allowed: ResponseLenience, limit: Int) -> Outcome {
    var head: [UInt8] = []
    var length: Range<Int>?
    var chunked = ChunkedRepair()
    var start = 0
    while let lineFeed = endOfLine(bytes, from: start) {
      var end = lineFeed
      if end > start, bytes.byte(at: end - 1) == 0x0D { end -= 1 } else if !allowed.contains(.bareLF) { return .none }
      guard lineFeed < limit else { return .none }
      var line = start..<end
      start = lineFeed + 1
      if line.isEmpty {
        // An empty line before the status line ends nothing.
        guard !head.isEmpty else { return .none }
        chunked.finish(&head)
        return .head(head + [0x0D, 0x0A], count: start)
      }
      if allowed.contains(.duplicateFraming), let coding = chunkedCoding(bytes, line) {
        guard chunked.isFirst(inList: coding.upperBound < bytes.trimmed(line).upperBound) else { continue }
        line = line.lowerBound..<coding.upperBound
      }
      let value = fieldValue("content-length:", bytes, line)
      if allowed.contains(.duplicateLength), let value {
        let number = onlyElement(bytes, value) ?? value
        if let length, bytes.array(length) == bytes.array(number) { continue }
        length = length ?? number
        // Without a list the line stays as it is.
        if number != value { line = line.lowerBound..<number.upperBound }
      }
      let place = head.count
      guard append(bytes, line, allowed, to: &head) else { return .none }
      // Not the first line, which has to be the status line.
      if value != nil, place > 0 { chunked.lengths.append(place..<head.count) }
    }
    return bytes.byteCount > limit ? .none : .incomplete
  }

  private static func endOfLine(_ bytes: RawSpan, from start: Int) -> Int? {
    var offset = start
    while offset < bytes.byteCount {
      if bytes.byte(at: offset) == 0x0A { return offset }
      offset += 1
    }
    return nil
  }

  /// - Returns: whether the line has no byte that nothing allows.
  private static func append(
    _ bytes: RawSpan, _ line: Range<Int>, _ allowed: ResponseLenience, to head: inout [UInt8]
  ) -> Bool {
    for offset in line {
      let byte = bytes.byte(at: offset)
      let isControl = byte < 0x20 && byte != 0x09 || byte == 0x7F
      // A lone CR ends a line for some readers.
      guard !isControl || (allowed.contains(.controlBytes) && byte != 0x0D) else { return false }
      head.append(isControl ? 0x20 : byte)
    }
    head += [0x0D, 0x0A]
    return true
  }

  /// Range of the value of a line with this name, without surrounding white space.
  /// - Parameter name: in small letters, with its colon.
  private static func fieldValue(_ name: StaticString, _ bytes: RawSpan, _ line: Range<Int>) -> Range<Int>? {
    let count = name.utf8CodeUnitCount
    guard line.count > count, bytes.equalsIgnoringCase(name, line.lowerBound..<line.lowerBound + count) else {
      return nil
    }
    return bytes.trimmed(line.lowerBound + count..<line.upperBound)
  }

  /// Range of the first coding of a `Transfer-Encoding` line that has no other coding than chunked.
  private static func chunkedCoding(_ bytes: RawSpan, _ line: Range<Int>) -> Range<Int>? {
    guard let value = fieldValue("transfer-encoding:", bytes, line), let coding = onlyElement(bytes, value),
      bytes.equalsIgnoringCase("chunked", coding)
    else { return nil }
    return coding
  }

  /// The framing of a head in which ``ResponseLenience/duplicateFraming`` is allowed.
  private struct ChunkedRepair {
    /// The places of the lines of `Content-Length` in the repaired head.
    var lengths: [Range<Int>] = []
    private var isChunked = false
    private var isRepeated = false

    /// Notes a line of `Transfer-Encoding: chunked`.
    /// - Parameter isInList: whether the line repeats the coding.
    /// - Returns: whether it is the first.
    mutating func isFirst(inList isInList: Bool) -> Bool {
      let isFirst = !isChunked
      isRepeated = isRepeated || isInList || !isFirst
      isChunked = true
      return isFirst
    }

    /// Removes the lengths of a body in chunks. The end of such a response may be where another reader does not see it:
    /// the connection must not carry another one.
    func finish(_ head: inout [UInt8]) {
      guard isChunked, isRepeated || !lengths.isEmpty else { return }
      for line in lengths.reversed() { head.removeSubrange(line) }
      head += "Connection: close\r\n".utf8
    }
  }

  /// Range of the first element of a comma-separated list; nil if another one differs from it, or is empty.
  private static func onlyElement(_ bytes: RawSpan, _ list: Range<Int>) -> Range<Int>? {
    var only: Range<Int>?
    var start = list.lowerBound
    while start <= list.upperBound {
      var end = start
      while end < list.upperBound, bytes.byte(at: end) != UInt8(ascii: ",") { end += 1 }
      let element = bytes.trimmed(start..<end)
      if let only, bytes.array(only) != bytes.array(element) { return nil }
      only = only ?? element
      start = end + 1
    }
    return only
  }
}

extension HeadViolation {
  /// The ``ResponseLenience`` that could make the head acceptable, as the configuration writes it; nil without one, and
  /// where it is among the allowed ones: it did not help.
  package func lenientKey(beyond allowed: ResponseLenience) -> String? {
    switch self {
    case .lineEnding: allowed.contains(.bareLF) ? nil : "bare-lf"
    case .contentLength: allowed.contains(.duplicateLength) ? nil : "duplicate-length"
    case .fieldValue: allowed.contains(.controlBytes) ? nil : "control-bytes"
    case .lengthAndEncoding, .encodingNotChunked: allowed.contains(.duplicateFraming) ? nil : "duplicate-framing"
    case .statusRange: allowed.contains(.statusRange) ? nil : "status-range"
    default: nil
    }
  }
}
