internal import HTTPWire

/// Writes a `Cookie` field without the gateway's own cookies.
enum CookieForwarding {
  /// Writes the line at `index`, or nothing where no cookie is left of it.
  @inline(__always)
  static func write(
    _ line: FieldLine, _ index: Int, _ head: borrowing RequestHead, _ bytes: RawSpan, to writer: inout HeaderWriter
  ) {
    guard !line.value.isEmpty else { return }
    let before = writer.count
    writer.append("Cookie: ")
    let begin = writer.count
    var run = line.value.lowerBound
    for place in head.gatewayCookies where place.line == index {
      if run < place.whole.lowerBound { writer.append(bytes.extracting(run..<place.whole.lowerBound)) }
      run = place.whole.upperBound
      // The cookie after ours now begins the list, or follows its own semicolon: one space is enough.
      if writer.count == begin {
        while run < line.value.upperBound, bytes.byte(at: run) == 0x20 { run += 1 }
      }
    }
    if run < line.value.upperBound { writer.append(bytes.extracting(run..<line.value.upperBound)) }
    // Ours at the end leaves a separator behind.
    writer.dropSeparators(downTo: begin)
    if writer.count == begin {
      writer.truncate(to: before)
    } else {
      writer.append("\r\n")
    }
  }
}
