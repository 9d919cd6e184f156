import ConfigurationFile
import WebFormats

/// The three places that oauth2-proxy is configured in: a file, the environment, and arguments.
enum OAuth2ProxySources {
  /// A part of an environment or of a command line that is not an option.
  struct SyntaxError: Error {
    /// The place, the problem, and what is expected.
    let message: String
  }

  /// The options of a file of variables, as `docker run --env-file`, Compose and systemd's `EnvironmentFile=` take it:
  /// `OAUTH2_PROXY_NAME=value` on each line, perhaps in quotation marks. Other variables are not oauth2-proxy's.
  /// - Throws: if a line is not an assignment, or names a variable of oauth2-proxy in another form, as in a list of
  ///   Compose (`- OAUTH2_PROXY_NAME=value`) or a unit of systemd (`Environment=`): a restriction may be in it.
  static func environment(_ bytes: [UInt8], name: String) throws(SyntaxError) -> [ForeignSettings.Setting] {
    var result: [ForeignSettings.Setting] = []
    let content = bytes.starts(with: byteOrderMark) ? bytes[byteOrderMark.count...] : bytes[...]
    let lines = content.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, bytes) in lines.enumerated() {
      guard let line = String(validating: trimmed(bytes), as: UTF8.self) else {
        throw SyntaxError(message: "\(name):\(index + 1): this is not valid UTF-8")
      }
      // A semicolon begins a comment for systemd.
      if line.isEmpty || line.utf8.first == UInt8(ascii: "#") || line.utf8.first == UInt8(ascii: ";") { continue }
      let variable = line.utf8.starts(with: "export ".utf8) ? String(line.dropFirst("export ".count)) : line
      guard let equals = variable.utf8.firstIndex(of: UInt8(ascii: "=")) else {
        throw SyntaxError(message: "\(name):\(index + 1): NAME=value is expected")
      }
      let key = String(variable[..<equals])
      let isName = key.utf8.allSatisfy(isOfName)
      guard key.utf8.starts(with: prefix.utf8), isName else {
        // Variables of other programs may have the prefix within their name or their value.
        let isVariable = isName && !key.utf8.elementsEqual("Environment".utf8)
        let hasPrefix = line.utf8.indices.contains { line.utf8[$0...].starts(with: prefix.utf8) }
        guard !isVariable, hasPrefix else { continue }
        throw SyntaxError(
          message: "\(name):\(index + 1): \(prefix)NAME=value is expected, and nothing else in the line")
      }
      let option = String(key.dropFirst(prefix.count)).lowercased()
      let text = unquoted(String(variable[variable.utf8.index(after: equals)...]))
      // Of two lines for a variable the last one counts, as for Docker and systemd.
      result.removeAll { $0.name.utf8.elementsEqual(option.utf8) }
      result.append(.init(name: option, value: value(text, of: option), place: "\(name):\(index + 1)"))
    }
    return result
  }

  private static let prefix = "OAUTH2_PROXY_"
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Whether a byte can be part of the name of a variable.
  private static func isOfName(_ byte: UInt8) -> Bool { byte.isASCIILetterOrDigit || byte == UInt8(ascii: "_") }

  /// The options of a command line: `--name=value`, `--name value`, and `--name` of those that are true or false.
  /// - Parameter text: words as a shell splits them, perhaps with the name of the program before them.
  /// - Throws: where it cannot be split, or a word is not an option.
  static func arguments(_ text: String) throws(SyntaxError) -> [ForeignSettings.Setting] {
    var words = try split(text)[...]
    if let first = words.first, first.utf8.first != UInt8(ascii: "-") { words = words.dropFirst() }
    var result: [ForeignSettings.Setting] = []
    while let word = words.popFirst() {
      // Go's flags begin with one dash or with two.
      let flag = word.drop { $0 == "-" }
      guard word.utf8.first == UInt8(ascii: "-"), !flag.isEmpty else {
        throw SyntaxError(message: "--args: \"\(word)\" is not an option; options begin with --")
      }
      let equals = flag.utf8.firstIndex(of: UInt8(ascii: "="))
      let written = String(flag[..<(equals ?? flag.endIndex)]).lowercased()
      let plain = String(decoding: written.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
      let option = OAuth2ProxyOptions.plurals[plain] ?? plain
      let text: String
      if let equals {
        text = String(flag[flag.utf8.index(after: equals)...])
      } else if OAuth2ProxyOptions.truths.contains(option) {
        text = "true"
      } else if let next = words.popFirst() {
        text = next
      } else {
        throw SyntaxError(message: "--args: --\(written) has no value")
      }
      if let known = result.firstIndex(where: { $0.name.utf8.elementsEqual(option.utf8) }) {
        // The values of repeatable options are collected; of other options the last value counts.
        let isList = OAuth2ProxyOptions.plurals.values.contains(option) || OAuth2ProxyOptions.isRestriction(option)
        let all = isList ? .texts((result[known].value.list ?? []) + [text]) : value(text, of: option)
        result[known] = .init(name: option, value: all, place: "--\(written)")
      } else {
        result.append(.init(name: option, value: value(text, of: option), place: "--\(written)"))
      }
    }
    return result
  }

  /// As oauth2-proxy does: arguments before the environment, and the environment before the file.
  /// - Parameter sources: the weakest first.
  static func merged(_ sources: [[ForeignSettings.Setting]]) -> ForeignSettings {
    var result: [ForeignSettings.Setting] = []
    for source in sources {
      let names = Set(source.map(\.name))
      result = result.filter { !names.contains($0.name) } + source
    }
    return ForeignSettings(result)
  }

  // MARK: Values

  private static func value(_ text: String, of option: String) -> ForeignSettings.Value {
    guard OAuth2ProxyOptions.truths.contains(option) else { return .text(text) }
    switch text {
    case "1", "t", "T", "true", "TRUE", "True": return .truth(true)
    case "0", "f", "F", "false", "FALSE", "False": return .truth(false)
    default: return .text(text)
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
    return bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
  }

  private static func unquoted(_ text: String) -> String {
    guard let quote = text.utf8.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"), text.utf8.count > 1,
      text.utf8.last == quote
    else { return text }
    return String(text.dropFirst().dropLast())
  }

  /// Splits words at blanks, outside of quotation marks; a backslash keeps the next character as it is, except in
  /// single quotation marks.
  private static func split(_ text: String) throws(SyntaxError) -> [String] {
    var words: [String] = []
    var word: [UInt8]?
    var quote: UInt8?
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      switch (byte, quote) {
      case (UInt8(ascii: "\\"), nil), (UInt8(ascii: "\\"), UInt8(ascii: "\"")):
        let next = bytes.popFirst()
        // A line that goes on.
        if next != 0x0A { word = (word ?? []) + (next.map { [$0] } ?? []) }
      case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil):
        (quote, word) = (byte, word ?? [])
      case (_, let open?) where byte == open: quote = nil
      case (0x20, nil), (0x09, nil), (0x0A, nil), (0x0D, nil):
        if let ended = word { words.append(String(decoding: ended, as: UTF8.self)) }
        word = nil
      default: word = (word ?? []) + [byte]
      }
    }
    guard quote == nil else { throw SyntaxError(message: "--args: a quotation mark is not closed") }
    if let word { words.append(String(decoding: word, as: UTF8.self)) }
    return words
  }
}
