package import Logging
internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The priority prefix of lines for systemd's journal, `<0>` to `<7>` (sd-daemon(3)), which the journal removes.
package enum JournalStream {
  /// Whether a descriptor is the stream that `JOURNAL_STREAM` names (`DEVICE:INODE`, systemd.exec(5)): the
  /// variable stays set after a redirection.
  package static func isTarget(_ descriptor: Int32) -> Bool {
    guard let value = getenv("JOURNAL_STREAM") else { return false }
    return isTarget(descriptor, of: String(cString: value))
  }

  /// - Parameter stream: the value of `JOURNAL_STREAM`.
  static func isTarget(_ descriptor: Int32, of stream: String) -> Bool {
    let parts = stream.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    var status = stat()
    guard parts.count == 2, fstat(descriptor, &status) == 0,
      let device = DecimalDigits.parse(parts[0], limit: .max), let inode = DecimalDigits.parse(parts[1], limit: .max)
    else { return false }
    return status.st_dev == dev_t(clamping: device) && status.st_ino == ino_t(clamping: inode)
  }

  /// The prefix of a line of this level.
  package static func prefix(_ level: Logger.Level) -> StaticString {
    switch level {
    case .critical: "<2>"
    case .error: "<3>"
    case .warning: "<4>"
    case .notice: "<5>"
    case .info: "<6>"
    case .debug, .trace: "<7>"
    }
  }
}
