internal import WebFormats

/// The `Date` line of the responses of one event loop (RFC 9110, 6.6.1): made once a second, copied into each response.
struct DateLine {
  private var second = Int64.min
  private var line: [UInt8] = []

  /// `Date: Sun, 06 Nov 1994 08:49:37 GMT` and its CR LF.
  /// - Parameter now: in milliseconds since 1970.
  @inline(__always)
  mutating func bytes(at now: Int64 = WallClock.now()) -> [UInt8] {
    if now / 1_000 != second { renew(now / 1_000) }
    return line
  }

  /// The range of the value within the line.
  static let value = 6..<35

  @inline(never)
  private mutating func renew(_ second: Int64) {
    self.second = second
    line = Array("Date: ".utf8)
    HTTPDate.append(second, to: &line)
    line += "\r\n".utf8
  }
}
