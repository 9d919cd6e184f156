import ArgumentParser
import Operations
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes to standard output, as Swift's `print` does, whose place this function takes in the whole command: Swift's
/// ignores errors, so that a full disk would leave half a configuration and exit status 0.
///
/// After an error nothing more is written, and the command ends with ``ExitStatus/outputFailed`` and a message once it
/// has done its work. If the reader of a pipe has gone away, the process ends at once and silently.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  guard StandardOutput.failure == nil else { return }
  do throws(OutputError) {
    try StandardOutput.write(items.map { "\($0)" }.joined(separator: separator) + terminator)
  } catch {
    if error.isClosedPipe { StandardOutput.endSilently() }
  }
}

/// Prints what cannot be shown again.
/// - Parameter ifLost: the consequence and the remedy if it cannot be written.
/// - Throws: `ExitCode`, after the message.
func printOnce(_ text: String, ifLost: String) throws {
  do throws(OutputError) {
    try StandardOutput.write(text + "\n")
  } catch {
    printError("standard output: \(error.reason); \(ifLost)")
    StandardOutput.isFailureReported.store(true, ordering: .relaxed)
    throw ExitCode(ExitStatus.outputFailed)
  }
}

/// Standard output of the command.
enum StandardOutput {
  /// The first error; nil if everything was written.
  static var failure: OutputError? { firstError.withLock { $0 } }
  /// Whether the message about the error was printed.
  static let isFailureReported = Atomic(false)

  private static let firstError = Mutex<OutputError?>(nil)

  /// Writes a text as a whole.
  /// - Throws: the error, which ``failure`` is from now on.
  static func write(_ text: String) throws(OutputError) {
    if let failure { throw failure }
    do throws(WriteError) {
      // However long the reader pauses: a pager may.
      try DescriptorOutput.writeAll(Array(text.utf8), to: STDOUT_FILENO)
    } catch {
      let outputError = OutputError(number: error.number)
      firstError.withLock { $0 = $0 ?? outputError }
      throw outputError
    }
  }

  /// Reports an error of the output that was not reported yet.
  static func reportFailure() {
    guard let failure, !isFailureReported.exchange(true, ordering: .relaxed) else { return }
    if failure.isClosedPipe { endSilently() }
    printError(
      "cordon: standard output: \(failure.reason); the output is incomplete and must not be used: check the disk or "
        + "the file that it goes to, and run the command again")
  }

  /// Ends the process as a closed pipe ends other programs.
  static func endSilently() -> Never {
    signal(SIGPIPE, SIG_DFL)
    // Threads of the concurrency runtime block signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGPIPE)
    exit(128 + SIGPIPE)
  }
}

/// An error of writing to standard output.
struct OutputError: Error {
  /// `errno`.
  let number: Int32

  /// Whether the reader of a pipe has gone away.
  var isClosedPipe: Bool { number == EPIPE }

  /// The text of the error.
  var reason: String { String(cString: strerror(number)) }
}
