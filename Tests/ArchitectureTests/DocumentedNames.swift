import Foundation
import Testing

// What the pages name is there, and what an operator meets is on a page.
//
// - A link leads to a file, and to a heading of it; a path in backquotes to a file or folder, `….swift` to a source.
// - Keys and tables of the configuration, metrics, and tests are called what the pages call them.
// - Every metric is in the operating guide; every warning and error of the log is in the troubleshooting page.

@Suite("Names in the documentation")
struct DocumentedNames {
  private let tree: SourceTree
  /// Every file and folder of the repository, below its root.
  private let paths: Set<String>

  init() throws {
    tree = try SourceTree.current.get()
    paths = try DocumentationPage.paths(below: tree.root)
  }

  private func page(_ path: String) throws -> DocumentationPage { try DocumentationPage(path, in: tree.root) }

  private var pages: [DocumentationPage] {
    get throws { try paths.filter { $0.hasSuffix(".md") }.sorted().map(page) }
  }

  private func text(of path: String) throws -> String {
    try String(contentsOf: tree.root.appending(path: path), encoding: .utf8)
  }

  /// The text of every file below a folder that ends so.
  private func sources(_ folder: String) throws -> [(path: String, text: String)] {
    try paths.filter { $0.hasPrefix("\(folder)/") && $0.hasSuffix(".swift") }.sorted().map { ($0, try text(of: $0)) }
  }

  @Test("Every link between the pages leads to a file, and to a heading of it")
  func links() throws {
    var dead: [String] = []
    var count = 0
    for page in try pages {
      for link in page.links where !link.contains(":") {
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let target = parts[0].isEmpty ? page.path : page.resolve(parts[0])
        guard paths.contains(target) else {
          dead.append("\(page.path): \(link)")
          continue
        }
        guard parts.count > 1, target.hasSuffix(".md") else { continue }
        if !(try self.page(target).anchors.contains(parts[1])) { dead.append("\(page.path): \(link)") }
      }
    }
    #expect(count > 200)
    #expect(dead == [])
  }

  @Test("Every path and source file that a page names is there")
  func files() throws {
    var dead: [String] = []
    var count = 0
    let folders = "Tests|Sources|Fuzzing|deploy|examples|Documentation|Benchmarks|Scripts"
    for page in try pages where page.path != "Documentation/FUZZING.md" {
      for name in page.names {
        if name.wholeMatch(of: try Regex("(\(folders))/[A-Za-z0-9/_.+-]*")) != nil {
          count += 1
          if !paths.contains(name.hasSuffix("/") ? String(name.dropLast()) : name) {
            dead.append("\(page.path): \(name)")
          }
        } else if name.wholeMatch(of: /[A-Za-z0-9_\/+.-]+\.swift/) != nil {
          count += 1
          if !paths.contains(where: { $0.hasSuffix("/\(name)") }) { dead.append("\(page.path): \(name)") }
        }
      }
    }
    #expect(count > 100)
    #expect(dead == [])
  }

  @Test("Every key and table of the configuration that a page names is one")
  func keys() throws {
    let headings = try text(of: "Documentation/CONFIGURATION.md").matches(of: /(?m)^### `([a-z_.]+)`/)
    let keys = Set(headings.map { String($0.1) })
    #expect(keys.count > 100)
    let tables = Set(keys.flatMap { key in key.indices.filter { key[$0] == "." }.map { String(key[..<$0]) } })
    var unknown: [String] = []
    var count = 0
    for page in try pages where page.path != "Documentation/MIGRATING.md" {
      for name in page.names {
        if let match = name.wholeMatch(of: /([a-z_]+)((?:\.[a-z_]+)+)(?:\s*=.*)?/), tables.contains(String(match.1)) {
          count += 1
          let key = "\(match.1)\(match.2)"
          let isFile = paths.contains { $0.hasSuffix("/\(key)") } || key.hasSuffix(".token") || key.hasSuffix(".key")
          if !keys.contains(key) && !tables.contains(key) && !isFile { unknown.append("\(page.path): \(name)") }
        } else if let match = name.wholeMatch(of: /\[\[?([a-z_.]+)\]\]?/) {
          let table = String(match.1)
          let known = tables.contains(table) || keys.contains(table) || table == "listen.certificate"
          if !known { unknown.append("\(page.path): \(name)") }
        }
      }
    }
    #expect(count > 200)
    #expect(unknown == [])
  }

  @Test("Every test that the tables of features and threats name is there")
  func tests() throws {
    var functions: [String: Set<String>] = [:]
    for (_, text) in try sources("Tests") {
      var type = ""
      for line in text.split(separator: "\n") {
        if let match = line.prefixMatch(of: /(?:[a-z]+ )*(?:struct|class|actor|enum|extension) (\w+)/) {
          type = String(match.1)
        } else if let match = line.firstMatch(of: /^ +(?:[a-z@]+ )*func (\w+)/) {
          functions[type, default: []].insert(String(match.1))
        }
      }
    }
    var missing: [String] = []
    var count = 0
    for row in try page("Documentation/APPLE-FEATURES.md").rows where row.count == 2 {
      var suite = ""
      for match in row[1].matches(of: /`(?:(\w+)\/)?(\w+)`/) {
        if let named = match.1 { suite = String(named) }
        count += 1
        if functions[suite]?.contains(String(match.2)) != true { missing.append("\(suite)/\(match.2)") }
      }
    }
    for row in try page("Documentation/THREAT-MODEL.md").rows where row.count == 4 {
      for match in row[3].matches(of: /(?:([A-Za-z0-9]+)\/)*([A-Z][A-Za-z0-9]*)/) where match.2 != "System" {
        let name = String(match.2)
        count += 1
        let isThere = paths.contains {
          $0.hasPrefix("Tests/") && ($0.hasSuffix("/\(name).swift") || $0.hasSuffix("/\(name)"))
        }
        if !isThere && functions[name] == nil && row[3] != "test" { missing.append(row[3]) }
      }
    }
    #expect(count > 150)
    #expect(missing == [])
  }

  @Test("Every metric is in the operating guide, and the pages name no other")
  func metrics() throws {
    let source = try sources("Sources").map(\.text).joined()
    let exposed = Set(source.matches(of: /"(cordon_[a-z_]+)"/).map { String($0.1) }).subtracting(["cordon_repost"])
    #expect(exposed.count > 30)
    let guide = try text(of: "Documentation/OPERATING.md")
    #expect(exposed.filter { !guide.contains($0) }.sorted() == [])
    var unknown: [String] = []
    for page in try pages {
      for match in page.text.matches(of: /\bcordon_[a-z_]*[a-z]\b/) where !exposed.contains(String(match.0)) {
        unknown.append("\(page.path): \(match.0)")
      }
    }
    #expect(unknown == [])
  }

  @Test("Messages of the log are constants, and each warning and error is in its table of the troubleshooting page")
  func messages() throws {
    let tables = try messageTables()
    var varying: [String] = []
    var unread: [String] = []
    var untold: [String] = []
    var count = 0
    for (path, text) in try sources("Sources") where !path.contains("imulator") {
      let calls = text.matches(of: /logger\.(?:trace|debug|info|notice|warning|error|critical|log)\(/)
      let literals = text.matches(of: /logger\.([a-z]+)\(\s*(?:level:\s*[^"]*?,\s*)?"((?:[^"\\]|\\.)*)"/)
      if calls.count != literals.count { unread.append(path) }
      for match in literals {
        count += 1
        let message = String(match.2)
        guard !message.contains("\\(") else {
          // An alarm has one of the constants below.
          if message != "\\(alarm.message)" { varying.append("\(path): \(message)") }
          continue
        }
        switch match.1 {
        case "critical": if !tables.critical.contains("\"\(message)\"") { untold.append(message) }
        // `log(level:)` chooses a level when it is called, which may be that of a warning.
        case "error", "warning", "log": if !tables.others.contains("\"\(message)\"") { untold.append(message) }
        default: break
        }
      }
      guard text.contains("Logger.Message") else { continue }
      // A constant with its remedy, which is logged as a warning.
      let constants = text.matches(of: /\(\s*"((?:[^"\\]|\\.)*)",\s*"/).map { String($0.1) }
      #expect(!constants.isEmpty, "\(path)")
      untold += constants.filter { !tables.others.contains("\"\($0)\"") }
    }
    let alarms = try text(of: "Sources/Sessions/Revalidation/RevalidationResult.swift")
      .matches(of: /case \.[a-zA-Z.()]+: "([^"\\]{20,})"/).map { String($0.1) }
    #expect(alarms.count == 4)
    untold += alarms.filter { !tables.critical.contains("\"\($0)\"") }
    #expect(count > 25)
    #expect(varying == [])
    // It logs the constants of `OriginalRequest`.
    #expect(unread == ["Sources/Gateway/Gate/Verify/VerifyEndpoint.swift"])
    #expect(untold.sorted() == [])
  }

  /// The two tables of messages in the troubleshooting page.
  private func messageTables() throws -> (critical: String, others: String) {
    let sections = try text(of: "Documentation/TROUBLESHOOTING.md").components(separatedBy: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix("Log messages\n") })
    let tables = section.components(separatedBy: "\n`error` and `warning`:\n")
    try #require(tables.count == 2 && tables[0].contains("\n`critical`:\n"))
    return (tables[0], tables[1])
  }
}
