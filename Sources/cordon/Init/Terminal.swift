import ArgumentParser

/// The person at the terminal.
struct Terminal {
  func say(_ text: String) { print(text) }

  /// Asks until there is an answer: an empty line takes the default.
  /// - Throws: `ExitCode` when the input has ended.
  func ask(_ prompt: String, default fallback: String?) throws -> String {
    while true {
      print("  \(prompt)\(fallback.map { $0.isEmpty ? " [none]" : " [\(printable($0))]" } ?? ""): ", terminator: "")
      guard let line = readLine() else {
        printError("\nThe input has ended: nothing was written. `cordon init --help` lists options for every answer.")
        throw ExitCode.failure
      }
      let answer = Self.trimmed(line)
      if !answer.isEmpty { return answer }
      if let fallback { return fallback }
      print("  An answer is needed here.")
    }
  }

  /// Asks for yes or no; no is what an empty line means.
  func confirm(_ question: String) throws -> Bool {
    let answer = try ask("\(question) yes or no", default: "no")
    return answer == "yes" || answer == "y"
  }

  private static func trimmed(_ line: String) -> String {
    let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == 0x09 || $0 == 0x0D }
    let bytes = Array(line.utf8).drop(while: isBlank)
    return String(decoding: bytes.reversed().drop(while: isBlank).reversed(), as: UTF8.self)
  }
}
