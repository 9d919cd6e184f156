/// The settings of another program: what `cordon import` reads.
///
/// A file is TOML with every key at the top. The limits are those of ``ConfigurationFile``: UTF-8, at most
/// 1 MiB, bounded nesting.
package struct ForeignSettings: Sendable {
  /// One key and its value.
  package struct Setting: Sendable, Equatable {
    /// The key, as the file or the argument has it.
    package let name: String
    /// The value, in its type.
    package let value: Value
    /// The location, for people: `FILE:LINE`, or the name of an argument.
    package let place: String

    /// A setting from elsewhere than a file in TOML.
    package init(name: String, value: Value, place: String) {
      (self.name, self.value, self.place) = (name, value, place)
    }
  }

  /// A value, as far as settings of other programs are understood.
  package enum Value: Sendable, Equatable {
    /// A TOML string.
    case text(String)
    /// A TOML integer.
    case number(Int)
    /// A TOML Boolean.
    case truth(Bool)
    /// A list of nothing but texts.
    case texts([String])
    /// A table, a date, or a list of other things.
    case other

    /// A text, or the texts of a list: many programs take either.
    package var list: [String]? {
      switch self {
      case .text(let text): [text]
      case .texts(let texts): texts
      default: nil
      }
    }
  }

  /// In the order of the file.
  package let settings: [Setting]

  /// Settings from several places, in this order.
  package init(_ settings: [Setting]) { self.settings = settings }

  /// Reads a file.
  /// - Parameter name: the file, for the places of its settings.
  /// - Throws: the syntax error.
  package init(_ bytes: [UInt8], name: String) throws(ConfigurationError) {
    let document: Document
    do throws(DocumentError) {
      document = try Document(bytes)
    } catch {
      throw ConfigurationError([
        ConfigurationDiagnostic(
          file: name, line: error.location.line, column: error.location.column, problem: error.problem,
          remedy: error.remedy)
      ])
    }
    settings = document.root.map { key, node in (document.locationOfKey(NodePath([.key(key)])).line, key, node) }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
      .map { line, key, node in Setting(name: key, value: Value(node), place: "\(name):\(line)") }
  }
}

extension ForeignSettings.Value {
  init(_ node: Node) {
    switch node {
    case .string(let text): self = .text(text)
    case .integer(let number): self = .number(number)
    case .boolean(let truth): self = .truth(truth)
    case .array(let nodes):
      let texts = nodes.compactMap { if case .string(let text) = $0 { text } else { nil } }
      self = texts.count == nodes.count ? .texts(texts) : .other
    case .number, .table, .moment: self = .other
    }
  }
}
