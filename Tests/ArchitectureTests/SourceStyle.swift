import Foundation
import Testing

// How the sources are written, as far as a machine can tell.
//
// - swift-format finds nothing in Sources and Tests.
// - Sources promise nothing that the compiler does not check, and put nothing off.
// - Doc comments and the names of tests begin with no question word, and use no old-fashioned word; no line is longer
//   than 120 columns; the name of a test does not begin with a pronoun. This holds for Sources, Tests and Fuzzing, and
//   in Benchmarks for what Python scripts document.
// - No line of prose in a Markdown page is longer than 120 columns.

@Suite("The sources' style")
struct SourceStyle {
  private let tree: SourceTree

  init() throws { tree = try SourceTree.current.get() }

  @Test(
    "swift-format has no complaint",
    .enabled(if: Tool.find("swift-format") != nil, "swift-format is not installed: the format was not checked"))
  func formatIsClean() throws {
    #expect(throws: Never.self) {
      _ = try Tool.run(
        "swift-format",
        ["lint", "--strict", "--recursive", "Package.swift", "Sources", "Tests", "Fuzzing/Package.swift"]
          + ["Fuzzing/Sources"],
        in: tree.root)
    }
  }

  @Test(
    "Sources hold nothing that switches a check off or puts work off",
    arguments: [
      "@unchecked Sendable", "try!", "fatalError(", "TODO", "FIXME", "Written in the next step",
    ])
  func noSwitchedOffChecks(text: String) throws {
    var found: [String] = []
    let sources = tree.root.appending(path: "Sources")
    let files = FileManager.default.enumerator(atPath: sources.path)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift") else { continue }
      let lines = try String(contentsOf: sources.appending(path: file), encoding: .utf8).components(separatedBy: "\n")
      for (index, line) in lines.enumerated() where line.contains(text) { found.append("\(file):\(index + 1)") }
    }
    #expect(found == [])
  }

  /// The folders of all modules, of all test targets, and of the packages beside this one.
  private static let folders: [String] = {
    guard let tree = try? SourceTree.current.get() else { return [] }
    return ["Sources", "Tests", "Fuzzing/Sources"].flatMap { folder in
      let names = try? FileManager.default.contentsOfDirectory(atPath: tree.root.appending(path: folder).path)
      return (names ?? []).sorted().map { "\(folder)/\($0)" }
    }
  }()

  @Test("The style of every module and of every test target is checked")
  func everyFolder() {
    #expect(Self.folders.filter { $0.hasPrefix("Sources/") }.count > 20)
    #expect(Self.folders.contains("Tests/System") && Self.folders.contains("Fuzzing/Sources/Invariants"))
  }

  /// Words that a doc comment and the name of a test must not begin with.
  private static let questionWords = "(?:What|Which|Who|Whose|Whom|Where|How|Why|Whoever|Whatever)"

  @Test("No doc comment begins with a question word, and no line uses old-fashioned words", arguments: folders)
  func commentsArePlain(folder: String) throws {
    let question = try Regex("/// \(Self.questionWords)\\b")
    let oldFashioned = try Regex(#"\b(?:an"# + #"ew|me"# + #"nd(?:s|ed|ing)?)\b"#)
    var found: [String] = []
    for (file, lines) in try files(below: folder, ending: ".swift") {
      for (index, line) in lines.enumerated() {
        let text = line.drop { $0 == " " }
        let isFirstOfBlock = index == 0 || !lines[index - 1].drop { $0 == " " }.hasPrefix("///")
        let isQuestion = try isFirstOfBlock && question.prefixMatch(in: text) != nil
        if try isQuestion || oldFashioned.firstMatch(in: line) != nil { found.append("\(file):\(index + 1)") }
      }
    }
    #expect(found == [])
  }

  @Test("The name of a test makes sense without that of its suite and without the test before it", arguments: folders)
  func namesStandAlone(folder: String) throws {
    let reference = "(?:It|Its|They|Their|Those|So|Not|(?:Any|Every|No)thing else)"
    let name = try Regex(#"@Test\(\s*""# + reference + #"\b[^"]*"#)
    var found: [String] = []
    for (file, lines) in try files(below: folder, ending: ".swift") {
      let text = lines.joined(separator: "\n")
      for match in text.matches(of: name) { found.append("\(file): \(text[match.range])") }
    }
    #expect(found == [])
  }

  @Test("No name of a test or a suite begins with a question word", arguments: folders)
  func namesAreStatements(folder: String) throws {
    let name = try Regex(#"@(?:Test|Suite)\(\s*""# + Self.questionWords + #"\b"#)
    var found: [String] = []
    for (file, lines) in try files(below: folder, ending: ".swift") {
      let text = lines.joined(separator: "\n")
      for match in text.matches(of: name) { found.append("\(file): \(text[match.range])") }
    }
    #expect(found == [])
  }

  @Test("No docstring of the benchmarks begins with a question word, and no line is long or uses old-fashioned words")
  func scriptsArePlain() throws {
    let pattern = try Regex("\"\"\"\(Self.questionWords)\\b|\\ban" + "ew\\b|\\bme" + "nd(?:s|ed|ing)?\\b")
    var found: [String] = []
    for (file, lines) in try files(below: "Benchmarks", ending: ".py") {
      for (index, line) in lines.enumerated() {
        let isLong = line.count > 120 && !line.contains("\"")
        if try isLong || pattern.firstMatch(in: line) != nil { found.append("\(file):\(index + 1)") }
      }
    }
    #expect(found == [])
  }

  @Test("No line is longer than 120 columns, except within multi-line strings", arguments: folders)
  func linesAreShort(folder: String) throws {
    var found: [String] = []
    for (file, lines) in try files(below: folder, ending: ".swift") {
      var isWithinString = false
      for (index, line) in lines.enumerated() {
        // Bytes of a test that one string literal has to hold cannot be wrapped.
        let isLiteral = folder.hasPrefix("Tests/") && line.contains(/^ *(?:\+ )?#?"/)
        if line.count > 120, !isWithinString, !isLiteral { found.append("\(file):\(index + 1)") }
        if line.components(separatedBy: "\"\"\"").count.isMultiple(of: 2) { isWithinString.toggle() }
      }
    }
    #expect(found == [])
  }

  @Test("No line of a page is longer than 120 columns, except in tables, code, link definitions and generated parts")
  func pagesAreWrapped() throws {
    let pages = try DocumentationPage.paths(below: tree.root).filter { $0.hasSuffix(".md") }.sorted()
    #expect(pages.count > 20)
    var found: [String] = []
    for page in pages {
      let text = try String(contentsOf: tree.root.appending(path: page), encoding: .utf8)
      var isCode = false
      var isGenerated = false
      for (index, line) in text.components(separatedBy: "\n").enumerated() {
        let start = line.drop { $0 == " " }
        if start.hasPrefix("```") { isCode.toggle() }
        if start.hasPrefix("<!-- begin") { isGenerated = true }
        if start.hasPrefix("<!-- end") { isGenerated = false }
        let isExempt = isCode || isGenerated || start.hasPrefix("|") || start.prefixMatch(of: /\[[^\]]+\]:\s/) != nil
        if line.count > 120, !isExempt { found.append("\(page):\(index + 1)") }
      }
    }
    #expect(found == [])
  }

  @Test("No line of the Debian package's description is longer than lintian allows, 80 columns")
  func packageDescription() throws {
    let control = tree.root.appending(path: "deploy/debian/control")
    let lines = try String(contentsOf: control, encoding: .utf8).components(separatedBy: "\n")
    let description = lines.drop { !$0.hasPrefix("Description:") }
    #expect(description.count > 5)
    #expect(description.filter { $0.count > 80 } == [])
  }

  /// The lines of every file with this ending below a folder of the repository.
  private func files(below folder: String, ending: String) throws -> [(file: String, lines: [String])] {
    let root = tree.root.appending(path: folder)
    var result: [(String, [String])] = []
    let files = FileManager.default.enumerator(atPath: root.path)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(ending), !file.contains(".build/") else { continue }
      let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
      result.append(("\(folder)/\(file)", text.components(separatedBy: "\n")))
    }
    return result
  }
}
