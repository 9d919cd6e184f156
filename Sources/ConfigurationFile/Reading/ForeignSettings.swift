/// The settings of another program, whose file is TOML with every key at the top: what `cordon import` reads.
///
/// It takes what ``ConfigurationFile`` takes and no more: UTF-8, at most 1 MiB, nesting bounded.
package struct ForeignSettings: Sendable {
  /// One key and its value.
  package struct Setting: Sendable, Equatable {
    package let name: String
    package let value: Value
    /// The line of the key, starting at 1.
    package let line: Int
  }

  package enum Value: Sendable, Equatable {
    case text(String)
    case number(Int)
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

  /// - Throws: What makes the file no TOML.
  package init(_ bytes: [UInt8], name: String) throws(ConfigurationProblems) {
    let document: Document
    do throws(DocumentError) {
      document = try Document(bytes)
    } catch {
      throw ConfigurationProblems([
        ConfigurationProblem(
          file: name, line: error.place.line, column: error.place.column, what: error.what, remedy: error.remedy)
      ])
    }
    settings = document.root.map { key, node in
      Setting(name: key, value: Value(node), line: document.placeOfKey(NodePath([.key(key)])).line)
    }.sorted { ($0.line, $0.name) < ($1.line, $1.name) }
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
