import AccessPolicy

/// Reads the tables of a document by the schema: every value is read by the declaration of its key, every other key is
/// a problem.
struct DocumentReader {
  private(set) var context: DecodingContext
  private(set) var builder = ConfigurationBuilder()
  /// Routes whose keys are valid, each with its index in the file.
  private(set) var routes: [Element<RouteBuilder>] = []
  /// Upstreams whose keys are valid.
  private(set) var upstreams: [Element<UpstreamBuilder>] = []
  /// Groups whose keys are valid.
  private(set) var groups: [Element<GroupBuilder>] = []
  /// Hosts whose keys are valid.
  private(set) var hosts: [Element<HostBuilder>] = []
  /// Listeners whose keys are valid.
  private(set) var listeners: [Element<ListenerBuilder>] = []

  /// One table of a list of tables.
  typealias Element<Target> = (index: Int, builder: Target, present: Dictionary<String, Node>.Keys)

  /// Unknown keys and tables, in no order.
  private var unknown: [(path: NodePath, key: UnknownKey)] = []

  /// The functions that read the keys of all tables.
  private let readers: [String: SchemaKey<ConfigurationBuilder>.Read]
  private let tables: Set<String>

  init(context: DecodingContext) {
    self.context = context
    var readers: [String: SchemaKey<ConfigurationBuilder>.Read] = [:]
    var tables: Set<String> = []
    for section in ConfigurationSchema.all {
      // With the tables above it, which need not have keys of their own.
      let name = section.name
      for dot in name.utf8.indices where name.utf8[dot] == UInt8(ascii: ".") { tables.insert(String(name[..<dot])) }
      if !name.isEmpty { tables.insert(name) }
      for entry in section.entries { readers[entry.key] = entry.read }
    }
    self.readers = readers
    self.tables = tables
  }

  /// Reads a whole document, and reports unknown and missing keys.
  mutating func read(_ document: Document) {
    readTable(document.root, at: NodePath())
    reportUnknown()
    reportMissing(in: document.root)
  }

  private mutating func readTable(_ table: [String: Node], at path: NodePath) {
    for (key, node) in table {
      let keyPath = path.appending(key)
      let name = path.components.isEmpty ? key : "\(path).\(key)"
      if key.utf8.contains(UInt8(ascii: ".")) {
        // A quoted key with a dot in it is not the key of a table.
        unknown.append((keyPath, UnknownKey(name: name, kind: .key)))
      } else if let read = readers[name] {
        if read(node, keyPath, &context, &builder) { context.noteValid(name) }
      } else if tables.contains(name) {
        if case .table(let inner) = node {
          readTable(inner, at: keyPath)
        } else {
          reportNoTable(
            node, at: keyPath, name: name, more: name == "upstream" ? "; additional ones are [[upstreams]]" : "")
        }
      } else if !readListOfTables(name, node, at: keyPath) {
        unknown.append((keyPath, UnknownKey(name: name, kind: UnknownKey.Kind(node))))
      }
    }
  }

  /// Reads a list of tables, if that is what a key names.
  /// - Returns: whether it is.
  private mutating func readListOfTables(_ name: String, _ node: Node, at path: NodePath) -> Bool {
    switch name {
    case ConfigurationSchema.route.name:
      readList(
        node, at: path, ConfigurationSchema.route, key: "path", remedy: "\"/public/\", or what it is to rule",
        keep: { $0.routes.append($1) },
        invalid: { context, builder, path in
          // Its other problems are reported already; its path can still be checked.
          if !builder.path.isEmpty { RouteChecks.checkPath(builder.path, at: path, &context) }
        })
    case ConfigurationSchema.upstreams.name:
      readList(
        node, at: path, ConfigurationSchema.upstreams, key: "name", remedy: "\"reports\", or what routes call it",
        keep: { $0.upstreams.append($1) })
    case ConfigurationSchema.group.name:
      readList(
        node, at: path, ConfigurationSchema.group, key: "name", remedy: "\"staff\", or what routes call it",
        keep: { $0.groups.append($1) }, invalid: { context, builder, _ in context.noteInvalidGroup(builder.name) })
    case ConfigurationSchema.host.name:
      readList(
        node, at: path, ConfigurationSchema.host, key: "name",
        remedy: "\"wiki.example.com\", or the host that browsers send",
        keep: { $0.hosts.append($1) }, invalid: { context, builder, _ in context.noteInvalidHost(builder.name) })
    case ConfigurationSchema.listener.name:
      readList(
        node, at: path, ConfigurationSchema.listener, key: "name", remedy: "\"internal\", or another name for the log",
        keep: { $0.listeners.append($1) })
    default: return false
    }
    return true
  }

  /// Reads a list of tables.
  /// - Parameters:
  ///   - key: the required key.
  ///   - remedy: what to write for it.
  ///   - keep: receives each valid element.
  ///   - invalid: receives each invalid element.
  private mutating func readList<Target>(
    _ node: Node, at path: NodePath, _ section: Section<Target>, key: String, remedy: String,
    keep: (inout DocumentReader, Element<Target>) -> Void,
    invalid: (inout DecodingContext, Target, NodePath) -> Void = { _, _, _ in }
  ) {
    let words = [ConfigurationSchema.route.name: "route", ConfigurationSchema.upstreams.name: "upstream"]
    let word = words[section.name] ?? section.name
    guard case .array(let elements) = node else {
      let remedy = "write each \(word) under a line [[\(section.name)]], with two brackets"
      context.report(atKey: path, "\(section.name) is \(node.describedKind)", remedy: remedy)
      return
    }
    for (index, element) in elements.enumerated() {
      let elementPath = path.appending(index)
      guard case .table(let table) = element else {
        context.report(
          at: elementPath, "\(section.name) holds \(element.describedKind)",
          remedy: "write each \(word) under a line [[\(section.name)]]")
        continue
      }
      var builder = Target()
      var isValid = readElement(table, at: elementPath, section, into: &builder)
      if table[key] == nil {
        context.report(atKey: elementPath, "this \(word) has no \(key)", remedy: "write \(key) = \(remedy)")
        isValid = false
      }
      for (name, example) in section.required where name != key && table[name] == nil {
        context.report(atKey: elementPath, "this \(word) has no \(name)", remedy: "write \(name) = \(example)")
        isValid = false
      }
      if isValid { keep(&self, (index, builder, table.keys)) } else { invalid(&context, builder, elementPath) }
    }
  }

  private mutating func readElement<Target>(
    _ table: [String: Node], at path: NodePath, _ section: Section<Target>, into builder: inout Target
  ) -> Bool {
    var isValid = true
    for (key, node) in table {
      let keyPath = path.appending(key)
      if let read = section.reader(of: key) {
        if !read(node, keyPath, &context, &builder) { isValid = false }
      } else if let inner = section.table(named: key) {
        if case .table(let table) = node {
          if !readElement(table, at: keyPath, inner, into: &builder) { isValid = false }
        } else {
          reportNoTable(node, at: keyPath, name: inner.name)
          isValid = false
        }
      } else {
        // In an element, a list of tables is a key like any other, as listener.certificate is.
        unknown.append((keyPath, UnknownKey(name: "\(section.name).\(key)", kind: node.isTable ? .table : .key)))
        isValid = false
      }
    }
    return isValid
  }

  private mutating func reportNoTable(_ node: Node, at path: NodePath, name: String, more: String = "") {
    context.report(
      atKey: path, "\(name) is \(node.isArray ? "a list of tables" : node.describedKind)",
      remedy: "write it as one table, [\(name)]\(more)")
  }

  // MARK: Missing and unknown keys

  private mutating func reportMissing(in root: [String: Node]) {
    for section in ConfigurationSchema.all {
      for entry in section.entries {
        guard let example = entry.requiredExample else { continue }
        if let other = ConfigurationSchema.alternatives[entry.key], context.isPresent(other) { continue }
        var node: Node? = .table(root)
        for component in entry.key.split(separator: ".") {
          guard case .table(let table) = node else {
            // A value in the place of a table was reported already.
            node = node == nil ? nil : .moment
            break
          }
          node = table[String(component)]
        }
        guard node == nil else { continue }
        let line = "\(entry.name) = \(example)"
        let remedy = section.name.isEmpty ? "write \(line)" : "write \(line) under [\(section.name)]"
        context.report(
          atKey: NodePath(section.name), "\(entry.key) is missing", remedy: remedy)
      }
    }
  }

  /// Reports unknown keys. The search for the key that was meant takes milliseconds: it is made for those only that can
  /// be among the problems that are reported.
  private mutating func reportUnknown() {
    let sorted = unknown.map { (location: context.location(of: $0.path), entry: $0) }
      .sorted { $0.location < $1.location }
    for (index, (_, (path, key))) in sorted.enumerated() {
      context.report(
        atKey: path, key.problem, remedy: index < [ConfigurationDiagnostic].reportLimit ? key.remedy : "")
    }
  }
}
