import WebFormats

/// The state of decoding one document: source locations, environment variables for `${…}`, and the problems so far.
struct DecodingContext {
  /// The folder that relative paths are relative to, absolute.
  let directory: String
  private(set) var problems: [ConfigurationDiagnostic] = []
  /// Warnings about files and folders that the configuration names.
  private(set) var warnings: [ConfigurationDiagnostic] = []
  /// Keys whose values were present and valid.
  private(set) var validKeys: Set<String> = []

  /// Names of invalid groups: they count as declared nevertheless.
  private(set) var invalidGroups: [String] = []

  /// Names of invalid hosts: routes may name them.
  private var invalidHosts: [String] = []

  private let document: Document
  private let fileName: String
  private let environment: @Sendable (String) -> String?
  /// Names and values of the environment variables that were used.
  private var substituted: [(name: String, value: String)] = []

  init(
    document: Document, fileName: String, directory: String, environment: @escaping @Sendable (String) -> String?
  ) {
    self.document = document
    self.fileName = fileName
    self.directory = directory
    self.environment = environment
  }

  mutating func noteInvalidGroup(_ name: String) { if !name.isEmpty { invalidGroups.append(name) } }

  mutating func noteInvalidHost(_ name: String) { invalidHosts.append(name) }

  /// Whether a host of this name, or one whose name could not be read, was invalid.
  func isInvalidHost(_ name: String) -> Bool {
    invalidHosts.contains { $0.isEmpty || $0.utf8.elementsEqual(name.utf8) }
  }

  mutating func noteValid(_ key: String) { validKeys.insert(key) }

  /// Adds a problem at a key.
  mutating func report(atKey path: NodePath, _ problem: String, remedy: String) {
    add(problem, remedy: remedy, at: document.locationOfKey(path))
  }

  /// Adds a problem at a value.
  mutating func report(
    at path: NodePath, _ problem: String, remedy: String, cause: ConfigurationDiagnostic.Cause = .contents
  ) {
    add(problem, remedy: remedy, at: document.locationOfValue(path), cause)
  }

  /// Whether the key is in the file, valid or not.
  func isPresent(_ key: String) -> Bool { document.hasKey(NodePath(key)) }

  /// Whether the key of a path is in the file, valid or not.
  func isPresent(_ path: NodePath) -> Bool { document.hasKey(path) }

  /// The problems in the order of the file.
  var sortedProblems: [ConfigurationDiagnostic] {
    problems.enumerated().sorted {
      ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
    }.map(\.element)
  }

  /// A path for diagnostics: relative to the folder of the file if it is below it.
  func shown(_ path: String) -> String {
    let path = concealing(path)
    let prefix = directory + "/"
    return path.utf8.starts(with: prefix.utf8)
      ? String(decoding: path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : path
  }

  /// The location of a key, for the order of diagnostics.
  func location(of path: NodePath) -> SourceLocation { document.locationOfKey(path) }

  /// The line of the first of these keys of a table that is present, or of the table.
  func line(_ table: NodePath, _ keys: [String]) -> Int {
    let key = keys.map { table.appending($0) }.filter { isPresent($0) }.min { location(of: $0) < location(of: $1) }
    return location(of: key ?? table).line
  }

  /// A warning at a key, which is returned and not collected.
  func warning(atKey path: NodePath, _ problem: String, remedy: String) -> ConfigurationDiagnostic {
    let location = document.locationOfKey(path)
    return ConfigurationDiagnostic(
      .warning, file: fileName, line: location.line, column: location.column, problem: problem, remedy: remedy)
  }

  /// Adds a warning at a key.
  mutating func warn(atKey path: NodePath, _ problem: String, remedy: String) {
    warnings.append(warning(atKey: path, problem, remedy: remedy))
  }

  /// Adds a warning about the file as a whole.
  mutating func warnAboutFile(_ problem: String, remedy: String) {
    warnings.append(
      ConfigurationDiagnostic(.warning, file: fileName, line: 1, column: 1, problem: problem, remedy: remedy))
  }

  /// Whether an environment variable has a value.
  func isSet(_ variable: String) -> Bool { environment(variable)?.utf8.isEmpty == false }

  private mutating func add(
    _ problem: String, remedy: String, at location: SourceLocation, _ cause: ConfigurationDiagnostic.Cause = .contents
  ) {
    problems.append(
      ConfigurationDiagnostic(
        file: fileName, line: location.line, column: location.column, problem: problem, remedy: remedy, cause: cause))
  }

  /// A text of the file, with `${NAME}` replaced by the variable of that name; nil, and a problem, if it is not a text
  /// or a variable is not set.
  ///
  /// `$${` stands for `${` itself. Any other `$` is just that.
  mutating func text(_ node: Node, at path: NodePath, expected: @autoclosure () -> String) -> WrittenText? {
    guard case .string(let written) = node else {
      report(at: path, "\(path) is \(node.describedKind)", remedy: "write \(expected())")
      return nil
    }
    guard written.utf8.contains(UInt8(ascii: "$")) else { return WrittenText(value: written, written: written) }
    var result: [UInt8] = []
    var rest = Array(written.utf8)[...]
    while let byte = rest.first {
      if rest.starts(with: "$${".utf8) {
        result += "${".utf8
        rest = rest.dropFirst(3)
      } else if rest.starts(with: "${".utf8) {
        guard let value = variable(&rest, at: path) else { return nil }
        result += value.utf8
      } else {
        result.append(byte)
        rest = rest.dropFirst()
      }
    }
    return WrittenText(value: String(decoding: result, as: UTF8.self), written: written)
  }

  /// Takes `${NAME}` from the front.
  mutating func variable(_ rest: inout ArraySlice<UInt8>, at path: NodePath) -> String? {
    let name = rest.dropFirst(2).prefix { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    rest = rest.dropFirst(2 + name.count)
    guard rest.first == UInt8(ascii: "}"), let first = name.first, !first.isASCIIDigit else {
      report(
        at: path, "\(path) holds \"${\" without a variable's name and \"}\"",
        remedy: "write \"${NAME}\" for a variable of the environment, \"$${\" for \"${\" itself")
      return nil
    }
    rest = rest.dropFirst()
    let text = String(decoding: name, as: UTF8.self)
    guard let value = environment(text) else {
      report(
        at: path, "\(path) names the environment variable \(text), which is not set",
        remedy: "set it in the environment of the process, or write the value here")
      return nil
    }
    if !substituted.contains(where: { $0.name == text }) { substituted.append((text, value)) }
    return value
  }

  /// A message of another module, with the values of environment variables replaced by their names.
  func concealing(_ message: String) -> String {
    var bytes = Array(message.utf8)
    for (name, value) in substituted.sorted(by: { $0.value.utf8.count > $1.value.utf8.count }) where !value.isEmpty {
      let value = Array(value.utf8)
      var result: [UInt8] = []
      var rest = bytes[...]
      while let byte = rest.first {
        if rest.starts(with: value) {
          result += "${\(name)}".utf8
          rest = rest.dropFirst(value.count)
        } else {
          result.append(byte)
          rest = rest.dropFirst()
        }
      }
      bytes = result
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A text, and its form before variables were replaced, which diagnostics may show.
struct WrittenText: Sendable {
  var value: String
  var written: String

  /// In quotation marks, not too long, and without the user information of a URL, which may be a password.
  var shown: String {
    let scalars = Self.withoutUserInformation(written).unicodeScalars
    return scalars.count > 60 ? "\"\(String(scalars.prefix(60)))…\"" : "\"\(String(scalars))\""
  }

  /// The text with "…" for what is between "//" and the last "@": a password may have a slash in it that was not
  /// encoded.
  private static func withoutUserInformation(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text }
    for start in bytes.indices.dropFirst() where start < at {
      guard bytes[start - 1] == UInt8(ascii: "/"), bytes[start] == UInt8(ascii: "/") else { continue }
      return String(decoding: bytes[...start], as: UTF8.self) + "…" + String(decoding: bytes[at...], as: UTF8.self)
    }
    return text
  }
}
