/// The description of one key in the reference.
struct SchemaKeyDescription: Sendable {
  /// With its tables: `listen.timeouts.head`.
  let key: String
  let typeName: String
  let presence: Presence
  /// The purpose, in complete sentences.
  let purpose: String
  /// The unit of a value that has one.
  let unit: String?
  /// The effect of leaving it out, unless the default shows it.
  let omission: String?
  /// Related keys.
  let seeAlso: [String]

  enum Presence: Sendable, Equatable {
    /// The key is required; an example, as written in the file.
    case required(example: String)
    /// The default, as written in the file.
    case withDefault(String)
    /// The key has no default; an example, as written in the file.
    case optional(example: String)
  }

  /// The part after the last dot.
  var name: String { Self.name(of: key) }
  /// The part before the last dot; empty for keys at the top.
  var table: String { key.split(separator: ".").dropLast().joined(separator: ".") }

  /// The part of a key after the last dot.
  static func name(of key: String) -> String {
    guard let dot = key.utf8.lastIndex(of: UInt8(ascii: ".")) else { return key }
    return String(key[key.utf8.index(after: dot)...])
  }
}

/// One key of the configuration: read, explained and checked from this one declaration.
struct SchemaKey<Target: DecodingTarget>: Sendable {
  /// With its tables: `listen.timeouts.head`.
  let key: String
  /// The example of the value, if the key is required.
  let requiredExample: String?
  /// Reads a value into the target; false if it was invalid, after its problems were added.
  let read: Read
  private let describe: @Sendable () -> SchemaKeyDescription

  typealias Read = @Sendable (Node, NodePath, inout DecodingContext, inout Target) -> Bool
  /// The place of a value in the target. A key path costs more than what reads it, at every start: it is made for the
  /// keys that a file has.
  typealias Place<Value> = @Sendable () -> any WritableKeyPath<Target, Value> & Sendable

  /// The part of the key after the last dot.
  var name: String { SchemaKeyDescription.name(of: key) }
  /// Composed at each call, because every start reads a file, and the texts are for the reference.
  var description: SchemaKeyDescription { describe() }

  /// A required key.
  static func required<Value>(
    _ key: String, _ type: ValueType<Value>, into target: @autoclosure @escaping Place<Value>,
    example: String,
    _ purpose: String, unit: String? = nil, seeAlso: [String] = []
  ) -> SchemaKey {
    SchemaKey(
      key, type, target, .required(example: example), requiredExample: example, purpose, unit: unit,
      omission: nil, seeAlso: seeAlso)
  }

  /// A key with a default, which is the value in a new target.
  static func withDefault<Value>(
    _ key: String, _ type: ValueType<Value>, into target: @autoclosure @escaping Place<Value>,
    _ purpose: String, unit: String? = nil, omission: String? = nil, seeAlso: [String] = []
  ) -> SchemaKey {
    SchemaKey(
      key, type, target, .withDefault(type.write(Target()[keyPath: target()])), purpose, unit: unit, omission: omission,
      seeAlso: seeAlso)
  }

  /// A key without a default.
  static func optional<Value>(
    _ key: String, _ type: ValueType<Value>, into target: @autoclosure @escaping Place<Value?>,
    example: String,
    _ purpose: String, unit: String? = nil, omission: String, seeAlso: [String] = []
  ) -> SchemaKey {
    SchemaKey(
      key, type.optional(), target, .optional(example: example), purpose, unit: unit, omission: omission,
      seeAlso: seeAlso)
  }

  private init<Value>(
    _ key: String, _ type: ValueType<Value>, _ target: @escaping Place<Value>,
    _ presence: @autoclosure @escaping @Sendable () -> SchemaKeyDescription.Presence, requiredExample: String? = nil,
    _ purpose: String, unit: String?, omission: String?, seeAlso: [String]
  ) {
    self.key = key
    self.requiredExample = requiredExample
    describe = {
      SchemaKeyDescription(
        key: key, typeName: type.name, presence: presence(), purpose: purpose, unit: unit, omission: omission,
        seeAlso: seeAlso)
    }
    read = { node, path, context, result in
      guard let value = type.read(node, path, &context) else { return false }
      result[keyPath: target()] = value
      return true
    }
  }
}

/// The target of decoding; it starts with all defaults.
protocol DecodingTarget: Sendable {
  init()
}

/// A table of the configuration and its keys.
struct Section<Target: DecodingTarget>: Sendable {
  /// `listen.timeouts`; empty for the top.
  let name: String
  /// For the reference and the sample: what the table is about.
  let introduction: String
  let entries: [SchemaKey<Target>]
  /// The tables in an element of a list of tables.
  let tables: [Section]
  /// The functions that read the entries, by the names of their keys without the table.
  private let readers: [String: SchemaKey<Target>.Read]
  /// The required keys, each with an example of its value.
  let required: [(name: String, example: String)]

  init(name: String, introduction: String, entries: [SchemaKey<Target>], tables: [Section] = []) {
    self.name = name
    self.introduction = introduction
    self.entries = entries
    self.tables = tables
    readers = Dictionary(entries.map { ($0.name, $0.read) }, uniquingKeysWith: { first, _ in first })
    required = entries.compactMap { entry in entry.requiredExample.map { (entry.name, $0) } }
  }

  /// The function that reads the entry of a key, by its name without the table.
  func reader(of name: String) -> SchemaKey<Target>.Read? { readers[name] }

  /// The table of a key, by its name without the tables above it.
  func table(named name: String) -> Section? {
    tables.first { SchemaKeyDescription.name(of: $0.name).utf8.elementsEqual(name.utf8) }
  }
}
