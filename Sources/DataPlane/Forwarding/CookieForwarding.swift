internal import HTTPWire

/// Writes a `Cookie` field without the gateway's own cookies.
enum CookieForwarding {
  /// Writes the line at `index`, or nothing where no cookie is left of it.
  @inline(__always)
  static func write(
    _ line: FieldLine, _ index: Int, _ head: borrowing RequestHead, _ bytes: RawSpan, to space: inout HeaderWriter
  ) {
    guard !line.value.isEmpty else { return }
    let before = space.count
    space.append("Cookie: ")
    let begin = space.count
    var run = line.value.lowerBound
    for place in head.ownCookies where place.line == index {
      if run < place.whole.lowerBound { space.append(bytes.extracting(run..<place.whole.lowerBound)) }
      run = place.whole.upperBound
      // The cookie after ours now begins the list, or follows its own semicolon: one space is enough.
      if space.count == begin {
        while run < line.value.upperBound, bytes.byte(at: run) == 0x20 { run += 1 }
      }
    }
    if run < line.value.upperBound { space.append(bytes.extracting(run..<line.value.upperBound)) }
    // Ours at the end leaves a separator behind.
    space.dropSeparators(downTo: begin)
    if space.count == begin {
      space.truncate(to: before)
    } else {
      space.append("\r\n")
    }
  }
}
