internal import HTTPWire
internal import NIOCore

/// Writes a `Cookie` field without the gateway's own cookies.
enum CookieForwarding {
  /// Writes the line at `index`, or nothing where no cookie is left of it.
  @inline(__always)
  static func write(
    _ line: FieldLine, _ index: Int, _ head: borrowing RequestHead, _ bytes: RawSpan, to buffer: inout ByteBuffer
  ) {
    guard !line.value.isEmpty else { return }
    let before = buffer.writerIndex
    buffer.writeStaticString("Cookie: ")
    let begin = buffer.writerIndex
    var run = line.value.lowerBound
    for place in head.ownCookies where place.line == index {
      if run < place.whole.lowerBound { buffer.writeBytes(bytes.extracting(run..<place.whole.lowerBound)) }
      run = place.whole.upperBound
      // What followed ours now begins the list, or follows its own semicolon: one space is enough.
      if buffer.writerIndex == begin {
        while run < line.value.upperBound, bytes.byte(at: run) == 0x20 { run += 1 }
      }
    }
    if run < line.value.upperBound { buffer.writeBytes(bytes.extracting(run..<line.value.upperBound)) }
    // Ours at the end leaves a separator behind.
    while buffer.writerIndex > begin, let last = buffer.getInteger(at: buffer.writerIndex - 1, as: UInt8.self),
      last == 0x3B || last == 0x20
    {
      buffer.moveWriterIndex(to: buffer.writerIndex - 1)
    }
    if buffer.writerIndex == begin {
      buffer.moveWriterIndex(to: before)
    } else {
      buffer.writeStaticString("\r\n")
    }
  }
}
