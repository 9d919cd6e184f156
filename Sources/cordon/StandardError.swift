import Logging
import Operations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The output stream for error messages of the command.
struct StandardError: TextOutputStream {
  mutating func write(_ string: String) {
    var rest = Array(string.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        #if canImport(Glibc)
          Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
          Musl.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        #endif
      }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
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
