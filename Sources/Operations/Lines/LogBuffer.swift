internal import WebFormats

/// The bytes of the line that is being written, in reused memory: appending is a comparison and a copy.
package struct LogBuffer: ~Copyable {
  private var memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 512)
  /// The bytes in use.
  package private(set) var count = 0
  /// The last second that was written, with its cached text up to the point.
  private var second = Int64.min
  private var secondText = InlineArray<20, UInt8>(repeating: 0)

  /// Creates an empty buffer.
  package init() {}

  deinit { memory.deallocate() }

  /// Calls `body` with the bytes.
  package func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
    try body(UnsafeBufferPointer(rebasing: memory[..<count]).span)
  }

  /// Empties it; the memory stays.
  package mutating func removeAll() { count = 0 }

  /// Appends a timestamp.
  mutating func append(_ time: Timestamp) {
    let (second, milliseconds) = time.written
    guard second == self.second else {
      time.append(to: &self)
      self.second = second
      for index in secondText.indices { secondText[index] = memory[count - 24 + index] }
      return
    }
    let text = secondText
    append(text.span)
    Timestamp.appendFraction(milliseconds, to: &self)
  }

  /// Appends `,"key":`, without the comma at the beginning.
  @inline(__always)
  mutating func appendJSONKey(_ key: StaticString, isFirst: Bool) {
    let length = key.utf8CodeUnitCount
    if memory.count - count < length + 4 { grow(by: length + 4) }
    guard var place = memory.baseAddress?.advanced(by: count) else { return }
    if !isFirst {
      place.pointee = UInt8(ascii: ",")
      place += 1
      count += 1
    }
    place[0] = UInt8(ascii: "\"")
    (place + 1).update(from: key.utf8Start, count: length)
    place[1 + length] = UInt8(ascii: "\"")
    place[2 + length] = UInt8(ascii: ":")
    count += length + 3
  }

  /// Appends text between quotation marks.
  @inline(__always)
  mutating func appendQuoted(_ text: Span<UInt8>) {
    text.withUnsafeBufferPointer { text in
      if memory.count - count < text.count + 2 { grow(by: text.count + 2) }
      guard let place = memory.baseAddress?.advanced(by: count) else { return }
      place[0] = UInt8(ascii: "\"")
      if let source = text.baseAddress { (place + 1).update(from: source, count: text.count) }
      place[1 + text.count] = UInt8(ascii: "\"")
      count += text.count + 2
    }
  }

  /// Appends a number as sixteen hexadecimal digits.
  mutating func append(hexadecimal number: UInt64) {
    let digits: InlineArray<2, UInt64> = [
      UInt32(truncatingIfNeeded: number >> 32).hexadecimalDigits.bigEndian,
      UInt32(truncatingIfNeeded: number).hexadecimalDigits.bigEndian,
    ]
    append(digits.span.bytes._unsafeView(as: UInt8.self))
  }

  @inline(__always)
  private mutating func append(_ source: UnsafeBufferPointer<UInt8>) {
    guard let from = source.baseAddress else { return }
    if memory.count - count < source.count { grow(by: source.count) }
    memory.baseAddress?.advanced(by: count).update(from: from, count: source.count)
    count += source.count
  }

  @inline(never)
  private mutating func grow(by more: Int) {
    let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(memory.count * 2, count + more))
    _ = larger.update(fromContentsOf: memory[..<count])
    memory.deallocate()
    memory = larger
  }
}

extension LogBuffer: ByteSink {
  /// Appends a byte; allocates only if the buffer is full.
  @inline(__always)
  package mutating func append(_ byte: UInt8) {
    if memory.count == count { grow(by: 1) }
    memory[count] = byte
    count += 1
  }

  /// Appends a run in one copy.
  @inline(__always)
  package mutating func append(_ bytes: Span<UInt8>) { bytes.withUnsafeBufferPointer { append($0) } }

  /// Appends a constant of the source in one copy, without a `String`.
  @inline(__always)
  package mutating func append(_ text: StaticString) { text.withUTF8Buffer { append($0) } }
}
