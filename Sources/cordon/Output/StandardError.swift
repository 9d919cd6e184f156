import Logging
import Operations
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The output stream for error messages of the command.
struct StandardError: TextOutputStream {
  /// The longest wait for a terminal or pipe that is non-blocking and full: a message must not be lost because its
  /// reader is slow, nor keep the process from ending because nobody reads.
  private static let stallLimit = Duration.seconds(10)
  /// Whether the latest write waited until the limit, so that the next one does not wait.
  private static let isStalled = Atomic(false)

  mutating func write(_ string: String) {
    let limit = Self.isStalled.load(ordering: .relaxed) ? .zero : Self.stallLimit
    do throws(WriteError) {
      try DescriptorOutput.writeAll(Array(string.utf8), to: STDERR_FILENO, stallLimit: limit)
      Self.isStalled.store(false, ordering: .relaxed)
    } catch {
      // An error of standard error has no other place to be reported.
      Self.isStalled.store(error.number == EAGAIN, ordering: .relaxed)
    }
  }
}

/// Writes to standard error; as errors where systemd's journal reads it.
func printError(_ text: String) {
  var standardError = StandardError()
  guard JournalStream.isTarget(STDERR_FILENO) else { return print(text, to: &standardError) }
  for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
    print("\(JournalStream.prefix(.error))\(line)", to: &standardError)
  }
}
