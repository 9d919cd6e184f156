import AccessPolicy

/// Walks the tables of a document along the declarations: every value is read by the entry that declares its key, every
/// other key is a problem.
struct DocumentReader {
  private(set) var reading: Reading
  private(set) var draft = Draft()
  /// Routes that were in order by themselves, each with its index in the file.
  private(set) var routes: [(index: Int, draft: RouteDraft, present: Set<String>)] = []

  private let entries: [String: Entry<Draft>]
  private let tables: Set<String>

  init(reading: Reading) {
    self.reading = reading
    var entries: [String: Entry<Draft>] = [:]
    var tables: Set<String> = []
    for section in Sections.all {
      if !section.name.isEmpty { tables.insert(section.name) }
      for entry in section.entries { entries[entry.description.key] = entry }
    }
    self.entries = entries
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
      } else if let entry = entries[name] {
        if entry.read(node, keyPath, &reading, &draft) { reading.noteGood(name) }
      } else if tables.contains(name) {
        if case .table(let inner) = node {
          readTable(inner, at: keyPath)
        } else {
          reading.complain(
            atKey: keyPath, "\(name) is \(node.kind == "a list" ? "a list of tables" : node.kind)",
            remedy: "write it as one table, [\(name)]")
        }
      } else if name == Sections.route.name {
        readRoutes(node, at: keyPath)
      } else {
        complainUnknown(keyPath, name: name, isTable: node.kind == "a table")
      }
    }
  }

  private mutating func readRoutes(_ node: Node, at path: NodePath) {
    guard case .array(let elements) = node else {
      let remedy = "write each route under a line [[route]], with two brackets"
      reading.complain(atKey: path, "route is \(node.kind)", remedy: remedy)
      return
    }
    for (index, element) in elements.enumerated() {
      let routePath = path.appending(index)
      guard case .table(let table) = element else {
        reading.complain(
          at: routePath, "route holds \(element.kind)", remedy: "write each route under a line [[route]]")
        continue
      }
      readRoute(table, at: routePath, index: index)
    }
  }

  private mutating func readRoute(_ table: [String: Node], at path: NodePath, index: Int) {
    var route = RouteDraft()
    var isGood = true
    for (key, node) in table {
      let keyPath = path.appending(key)
      guard let entry = Sections.route.entries.first(where: { $0.description.name == key }) else {
        complainUnknown(keyPath, name: "route.\(key)", isTable: false)
        isGood = false
        continue
      }
      if !entry.read(node, keyPath, &reading, &route) { isGood = false }
    }
    if table["path"] == nil {
      reading.complain(
        atKey: path, "this route has no path", remedy: "write path = \"/public/\", or what it is to rule")
      isGood = false
    }
    if isGood {
      routes.append((index, route, Set(table.keys)))
    } else if !route.path.isEmpty {
      // Its other mistakes are told; its path can still be looked at by itself.
      RouteChecks.checkPath(route.path, at: path, &reading)
    }
  }

  // MARK: Keys that are not there, and keys that should not be

  private mutating func reportMissing(in root: [String: Node]) {
    for section in Sections.all {
      for entry in section.entries {
        guard case .required(let example) = entry.description.presence else { continue }
        var node: Node? = .table(root)
        for component in entry.description.key.split(separator: ".") {
          guard case .table(let table) = node else {
            // What stands where the table should be was complained about.
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
