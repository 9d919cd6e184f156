import AccessPolicy

/// Walks the tables of a document along the declarations: every value is read by the entry that declares its key, every
/// other key is a problem.
struct DocumentReader {
  private(set) var reading: DecodingContext
  private(set) var draft = ConfigurationBuilder()
  /// Routes that were in order by themselves, each with its index in the file.
  private(set) var routes: [Element<RouteBuilder>] = []
  /// Upstreams that were in order by themselves.
  private(set) var upstreams: [Element<UpstreamBuilder>] = []
  /// Groups that were in order by themselves.
  private(set) var groups: [Element<GroupBuilder>] = []
  /// Hosts that were in order by themselves.
  private(set) var hosts: [Element<HostBuilder>] = []
  /// Listeners that were in order by themselves.
  private(set) var listeners: [Element<ListenerBuilder>] = []

  /// One table of a list of tables.
  typealias Element<Target> = (index: Int, draft: Target, present: Dictionary<String, Node>.Keys)

  /// The functions that read the keys of all tables.
  private let readers: [String: SchemaKey<ConfigurationBuilder>.Read]
  private let tables: Set<String>

  init(reading: DecodingContext) {
    self.reading = reading
    var readers: [String: SchemaKey<ConfigurationBuilder>.Read] = [:]
    var tables: Set<String> = []
    for section in ConfigurationSchema.all {
      // With the tables above it, which need not have keys of their own.
      let name = section.name
      for dot in name.utf8.indices where name.utf8[dot] == UInt8(ascii: ".") { tables.insert(String(name[..<dot])) }
      if !name.isEmpty { tables.insert(name) }
      for entry in section.entries { readers[entry.description.key] = entry.read }
    }
    self.readers = readers
    self.tables = tables
  }

  mutating func read(_ document: Document) {
    readTable(document.root, at: NodePath())
    reportMissing(in: document.root)
  }

  private mutating func readTable(_ table: [String: Node], at path: NodePath) {
    for (key, node) in table {
      let keyPath = path.appending(key)
      let name = path.components.isEmpty ? key : "\(path).\(key)"
      if key.utf8.contains(UInt8(ascii: ".")) {
        // A quoted key with a dot in it is not the key of a table.
        complainUnknown(keyPath, name: name, isTable: false)
      } else if let read = readers[name] {
        if read(node, keyPath, &reading, &draft) { reading.noteGood(name) }
      } else if tables.contains(name) {
        if case .table(let inner) = node {
          readTable(inner, at: keyPath)
        } else {
          reading.complain(
            atKey: keyPath, "\(name) is \(node.kind == "a list" ? "a list of tables" : node.kind)",
            remedy: "write it as one table, [\(name)]"
              + (name == "upstream" ? "; additional ones are [[upstreams]]" : ""))
        }
      } else if name == ConfigurationSchema.route.name {
        readList(
          node, at: keyPath, ConfigurationSchema.route, key: "path", remedy: "\"/public/\", or what it is to rule",
          keep: { $0.routes.append($1) },
          spoiled: { reading, draft, path in
            // Its other mistakes are told; its path can still be looked at by itself.
            if !draft.path.isEmpty { RouteChecks.checkPath(draft.path, at: path, &reading) }
          })
      } else if name == ConfigurationSchema.upstreams.name {
        readList(
          node, at: keyPath, ConfigurationSchema.upstreams, key: "name", remedy: "\"reports\", or what routes call it",
          keep: { $0.upstreams.append($1) })
      } else if name == ConfigurationSchema.group.name {
        readList(
          node, at: keyPath, ConfigurationSchema.group, key: "name", remedy: "\"staff\", or what routes call it",
          keep: { $0.groups.append($1) }, spoiled: { reading, draft, _ in reading.noteSpoiledGroup(draft.name) })
      } else if name == ConfigurationSchema.host.name {
        readList(
          node, at: keyPath, ConfigurationSchema.host, key: "name",
          remedy: "\"wiki.example.com\", or the host that browsers send",
          keep: { $0.hosts.append($1) }, spoiled: { reading, draft, _ in reading.noteSpoiledHost(draft.name) })
      } else if name == ConfigurationSchema.listener.name {
        readList(
          node, at: keyPath, ConfigurationSchema.listener, key: "name",
          remedy: "\"internal\", or another name for the log",
          keep: { $0.listeners.append($1) })
      } else {
        complainUnknown(keyPath, name: name, isTable: node.kind == "a table")
      }
    }
  }

  /// Reads a list of tables.
  /// - Parameters:
  ///   - key: the key that each must have.
  ///   - remedy: what to write for it.
  ///   - keep: takes an element that is in order.
  ///   - spoiled: looks at one that is not.
  private mutating func readList<Target>(
    _ node: Node, at path: NodePath, _ section: Section<Target>, key: String, remedy: String,
    keep: (inout DocumentReader, Element<Target>) -> Void,
    spoiled: (inout DecodingContext, Target, NodePath) -> Void = { _, _, _ in }
  ) {
    let words = [ConfigurationSchema.route.name: "route", ConfigurationSchema.upstreams.name: "upstream"]
    let word = words[section.name] ?? section.name
    guard case .array(let elements) = node else {
      let remedy = "write each \(word) under a line [[\(section.name)]], with two brackets"
      reading.complain(atKey: path, "\(section.name) is \(node.kind)", remedy: remedy)
      return
    }
    for (index, element) in elements.enumerated() {
      let elementPath = path.appending(index)
      guard case .table(let table) = element else {
        reading.complain(
          at: elementPath, "\(section.name) holds \(element.kind)",
          remedy: "write each \(word) under a line [[\(section.name)]]")
        continue
      }
      var draft = Target()
      var isGood = readElement(table, at: elementPath, section, into: &draft)
      if table[key] == nil {
        reading.complain(atKey: elementPath, "this \(word) has no \(key)", remedy: "write \(key) = \(remedy)")
        isGood = false
      }
      for (name, example) in section.required where name != key && table[name] == nil {
        reading.complain(atKey: elementPath, "this \(word) has no \(name)", remedy: "write \(name) = \(example)")
        isGood = false
      }
      if isGood { keep(&self, (index, draft, table.keys)) } else { spoiled(&reading, draft, elementPath) }
    }
  }

  private mutating func readElement<Target>(
    _ table: [String: Node], at path: NodePath, _ section: Section<Target>, into draft: inout Target
  ) -> Bool {
    var isGood = true
    for (key, node) in table {
      let keyPath = path.appending(key)
      guard let read = section.reader(of: key) else {
        complainUnknown(keyPath, name: "\(section.name).\(key)", isTable: false)
        isGood = false
        continue
      }
      if !read(node, keyPath, &reading, &draft) { isGood = false }
    }
    return isGood
  }

  // MARK: Keys that are not there, and keys that should not be

  private mutating func reportMissing(in root: [String: Node]) {
    for section in ConfigurationSchema.all {
      for entry in section.entries {
        guard case .required(let example) = entry.description.presence else { continue }
        if let other = ConfigurationSchema.alternatives[entry.description.key], reading.isThere(other) { continue }
        var node: Node? = .table(root)
        for component in entry.description.key.split(separator: ".") {
          guard case .table(let table) = node else {
            // A value in the place of a table was reported already.
            node = node == nil ? nil : .moment
            break
          }
          node = table[String(component)]
        }
        guard node == nil else { continue }
        let line = "\(entry.description.name) = \(example)"
        let remedy = section.name.isEmpty ? "write \(line)" : "write \(line) under [\(section.name)]"
        reading.complain(
          atKey: NodePath(section.name), "\(entry.description.key) is missing", remedy: remedy)
      }
    }
  }

  private mutating func complainUnknown(_ path: NodePath, name: String, isTable: Bool) {
    let written = WrittenText(value: name, written: name).shown.dropFirst().dropLast()
    let remedy = UnknownKey(name: name, isTable: isTable).remedy
    reading.complain(
      atKey: path, isTable ? "there is no table [\(written)]" : "there is no key \(written)", remedy: remedy)
  }
}
