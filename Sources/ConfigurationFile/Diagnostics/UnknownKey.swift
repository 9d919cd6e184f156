import WebFormats

/// Guesses what an unknown key or table was meant to be.
struct UnknownKey {
  /// With its tables.
  let name: String
  let kind: Kind

  /// The form in which it is written.
  enum Kind {
    /// A key with a value.
    case key
    /// A table, with keys of its own: `[name]`.
    case table
    /// A list of such tables: `[[name]]`.
    case listOfTables
  }

  /// The problem, with the header of a table as it is written.
  var problem: String {
    let written = WrittenText(value: name, written: name).shown.dropFirst().dropLast()
    return switch kind {
    case .key: "there is no key \(written)"
    case .table: "there is no table [\(written)]"
    case .listOfTables: "there is no table [[\(written)]]"
    }
  }

  var remedy: String {
    if kind != .key, let nearest = NearestKey.find(name, among: Self.tables + Self.lists) {
      return Self.lists.contains(nearest) ? "did you mean [[\(nearest)]]?" : "did you mean [\(nearest)]?"
    }
    let descriptions = Self.descriptions
    let table = name.split(separator: ".").dropLast().joined(separator: ".")
    let key = String(name.split(separator: ".").last ?? "")
    let siblings = descriptions.filter { $0.table == table }.map(\.name)
    if let nearest = NearestKey.find(key, among: siblings) {
      return "did you mean \(table.isEmpty ? nearest : "\(table).\(nearest)")?"
    }
    // `upstream.check_path` for `upstream.check.path`, although there is an `upstreams.check_path`.
    if let same = Self.keysByWords[Self.words(of: name)], same != name { return "did you mean \(same)?" }
    let elsewhere = descriptions.filter { $0.name.utf8.elementsEqual(key.utf8) }.map(\.key)
    if !elsewhere.isEmpty {
      return "did you mean \(elsewhere.joined(separator: " or "))? it belongs to another table"
    }
    // In a known table the key itself must be similar: `upstream.checkpath` is `upstream.check.path`, but not every key
    // of the table is similar to `upstream.bogus`.
    if let nearest = NearestKey.find(name, among: descriptions.map(\.key)),
      siblings.isEmpty
        || NearestKey.distance(Array(name.utf8), Array(nearest.utf8)) <= max(1, key.utf8.count / 3)
    {
      return "did you mean \(nearest)?"
    }
    // A guess from another table misleads where the table is a known one.
    if siblings.isEmpty, let nearest = NearestKey.find(key, among: descriptions.map(\.name)),
      let description = descriptions.first(where: { $0.name == nearest })
    {
      return "did you mean \(description.key)?"
    }
    guard !siblings.isEmpty, kind == .key else { return "remove it; `cordon reference` lists every key" }
    let place = table.isEmpty ? "at the top" : "of [\(table)]"
    return "remove it; the keys \(place) are \(siblings.joined(separator: ", "))"
  }

  /// Made once: a file for another program has hundreds of unknown keys.
  private static let descriptions = ConfigurationSchema.descriptions

  /// Each key by itself with underscores only.
  private static let keysByWords = Dictionary(
    descriptions.map { (words(of: $0.key), $0.key) }, uniquingKeysWith: { first, _ in first })

  private static func words(of key: String) -> String { String(key.map { $0 == "." ? "_" : $0 }) }

  private static let tables =
    ConfigurationSchema.all.map(\.name).filter { !$0.isEmpty } + [ConfigurationSchema.upstreamsTimeouts.name]

  /// The tables of which there may be several.
  private static let lists = [
    ConfigurationSchema.group.name, ConfigurationSchema.listener.name, ConfigurationSchema.upstreams.name,
    ConfigurationSchema.host.name, ConfigurationSchema.route.name, "\(ConfigurationSchema.listen.name).certificate",
  ]
}

extension UnknownKey.Kind {
  init(_ node: Node) {
    self = node.isTable ? .table : node.isListOfTables ? .listOfTables : .key
  }
}
