#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A temporary status line on a terminal, which the next output replaces. If standard error is not a terminal, nothing
/// is written.
struct StatusLine {
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  private let isShown = Self.isTerminal

  /// Says what is being done now.
  func show(_ text: String) {
    guard isShown else { return }
    var standardError = StandardError()
    print("\r\u{1B}[K\(text) …", terminator: "", to: &standardError)
  }

  /// Gives the line back, for output.
  func clear() {
    guard isShown else { return }
    var standardError = StandardError()
    print("\r\u{1B}[K", terminator: "", to: &standardError)
  }
}
