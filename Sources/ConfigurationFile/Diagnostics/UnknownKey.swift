import WebFormats

/// Guesses what an unknown key or table was meant to be.
struct UnknownKey {
  /// With its tables.
  let name: String
  /// Whether it is a table, with keys of its own.
  let isTable: Bool
  /// Whether it is a list of such tables, each with a header in two brackets.
  let isList: Bool

  var remedy: String {
    if isTable || isList, let nearest = NearestKey.find(name, among: Self.tables + Self.lists) {
      return Self.lists.contains(nearest) ? "did you mean [[\(nearest)]]?" : "did you mean [\(nearest)]?"
    }
    let descriptions = Self.descriptions
    let table = name.split(separator: ".").dropLast().joined(separator: ".")
    let key = String(name.split(separator: ".").last ?? "")
    let siblings = descriptions.filter { $0.table == table }.map(\.name)
    if let nearest = NearestKey.find(key, among: siblings) {
      return "did you mean \(table.isEmpty ? nearest : "\(table).\(nearest)")?"
    }
    let elsewhere = descriptions.filter { $0.name.utf8.elementsEqual(key.utf8) }.map(\.key)
    if !elsewhere.isEmpty {
      return "did you mean \(elsewhere.joined(separator: " or "))? it belongs to another table"
    }
    if let nearest = NearestKey.find(name, among: descriptions.map(\.key)) { return "did you mean \(nearest)?" }
    // A guess from another table misleads where the table is a known one.
    if siblings.isEmpty, let nearest = NearestKey.find(key, among: descriptions.map(\.name)),
      let description = descriptions.first(where: { $0.name == nearest })
    {
      return "did you mean \(description.key)?"
    }
    guard !siblings.isEmpty, !isTable, !isList else { return "remove it; `cordon reference` lists every key" }
    let place = table.isEmpty ? "at the top" : "of [\(table)]"
    return "remove it; the keys \(place) are \(siblings.joined(separator: ", "))"
  }

  /// Made once: a file for another program has hundreds of unknown keys.
  private static let descriptions = ConfigurationSchema.descriptions

  private static let tables =
    ConfigurationSchema.all.map(\.name).filter { !$0.isEmpty } + [ConfigurationSchema.upstreamsTimeouts.name]

  /// The tables of which there may be several.
  private static let lists = [
    ConfigurationSchema.group.name, ConfigurationSchema.listener.name, ConfigurationSchema.upstreams.name,
    ConfigurationSchema.host.name, ConfigurationSchema.route.name, "\(ConfigurationSchema.listen.name).certificate",
  ]
}
