import ConfigurationFile

/// A configuration that is made of another program's settings, with a note about each setting that has no equivalent.
/// Values that are missing or unusable are examples, which are reported.
struct ImportedConfiguration {
  /// The outcome of one setting.
  enum Outcome: Equatable {
    /// It is in the configuration.
    case translated
    /// Nothing is to be done: the gateway does so anyway, or does not need it.
    case unneeded(String)
    /// The gateway behaves differently, or needs further settings.
    case left(String)
  }

  /// The message about one setting.
  struct Note {
    /// The place of the setting in the order of the settings.
    let index: Int
    /// With the place for people.
    let text: String
  }

  var configuration: ConfigurationText
  private(set) var notes: [Note] = []
  private var counts = (translated: 0, unneeded: 0, left: 0)
  /// The number of each setting, by its place.
  private let order: [String: Int]
  /// The setting that a key was translated from.
  private var origins: [String: ForeignSettings.Setting] = [:]

  /// Placeholders for missing or unusable values: examples, on which nothing depends. Each that remains is reported.
  private static let examples: [(key: String, value: String)] = [
    ("public_url", "https://app.example.com"), ("listen.address", "127.0.0.1:4180"),
    ("upstream.url", "http://127.0.0.1:3000"), ("apple.client_id", "com.example.web"),
    ("apple.team_id", "DEF123GHIJ"), ("apple.key_id", "ABC123DEFG"),
    ("apple.private_key_file", "AuthKey_ABC123DEFG.p8"),
  ]
  private static let exampleComment = "an example: put your own here"

  /// - Parameter head: the comment at the beginning of the file.
  init(of settings: ForeignSettings, head: String) {
    configuration = ConfigurationText(head: head)
    order = Dictionary(
      settings.settings.enumerated().map { ($0.element.place, $0.offset) }, uniquingKeysWith: { first, _ in first })
    for (key, value) in Self.examples { configuration.set(key, .text(value), comment: Self.exampleComment) }
    configuration.set(
      "session.secret_files", .texts(["session.key"]), comment: "cordon keygen --output session.key")
  }

  /// Sets a key, and remembers what it was translated from.
  mutating func set(
    _ key: String, _ value: ConfigurationText.Value, comment: String? = nil, from setting: ForeignSettings.Setting
  ) {
    configuration.set(key, value, comment: comment)
    origins[key] = setting
  }

  /// Notes the outcome of a setting.
  mutating func note(_ outcome: Outcome, _ setting: ForeignSettings.Setting) {
    switch outcome {
    case .translated: counts.translated += 1
    case .unneeded(let why):
      counts.unneeded += 1
      append("needs nothing: \(why)", setting)
    case .left(let what):
      counts.left += 1
      append("LEFT: \(what)", setting)
    }
  }

  private mutating func append(_ text: String, _ setting: ForeignSettings.Setting) {
    notes.append(
      Note(index: order[setting.place] ?? 0, text: "\(setting.place): \(setting.name): \(text)"))
  }

  /// Takes out what the gateway would refuse, and completes the notes, once every setting was translated.
  mutating func finish() {
    removeRefused()
    notes.sort { $0.index < $1.index }
    noteExamples()
  }

  /// Takes out what the reader of configurations refuses, and says why. Files are not looked at: they may be elsewhere.
  private mutating func removeRefused() {
    var removed: Set<String> = []
    while let refused = firstRefused(), removed.insert(refused.key).inserted {
      let (key, problem) = refused
      let example = Self.examples.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
      if let example {
        configuration.set(key, .text(example), comment: Self.exampleComment)
      } else {
        configuration.remove(key)
      }
      if let setting = origins.removeValue(forKey: key) {
        counts.translated -= 1
        note(.left("\(problem.problem); \(problem.remedy)"), setting)
      }
    }
  }

  private func firstRefused() -> (key: String, problem: ConfigurationDiagnostic)? {
    do throws(ConfigurationError) {
      _ = try ConfigurationFile.parse(
        Array(configuration.text.utf8), name: "gateway.conf", directory: "/", environment: { _ in nil },
        files: FileAccess(read: { _, _ in .missing }))
      return nil
    } catch {
      for problem in error.problems {
        let key = origins.keys.first { configuration.line(of: $0) == problem.line && !Self.isFile($0) }
        if let key { return (key, problem) }
      }
      return nil
    }
  }

  private static func isFile(_ key: String) -> Bool { key.hasSuffix("_file") }

  /// Reports the example values that no setting has replaced, after the settings.
  private mutating func noteExamples() {
    for (key, value) in Self.examples where origins[key] == nil {
      counts.left += 1
      notes.append(Note(index: order.count, text: "\(key): LEFT: \"\(value)\" is an example: put your own here"))
    }
  }

  /// One line about the whole.
  var summary: String {
    "\(counts.translated) translated, \(counts.unneeded) unneeded, \(counts.left) left for you."
  }
}
