import Foundation
import Testing

// How the sources are written, as far as a machine can tell.
//
// - swift-format finds nothing in Sources and Tests.
// - Sources promise nothing that the compiler does not check, and put nothing off.
// - Doc comments of the modules named below begin with a noun phrase or a verb; no line is longer than 120 columns.

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
        "swift-format", ["lint", "--strict", "--recursive", "Package.swift", "Sources", "Tests"], in: tree.root)
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

  /// Every module of the package.
  private static let modules: [String] = {
    guard let tree = try? SourceTree.current.get() else { return [] }
    let folders = try? FileManager.default.contentsOfDirectory(atPath: tree.root.appending(path: "Sources").path)
    return (folders ?? []).sorted()
  }()

  @Test("The style of every module is looked at")
  func everyModule() { #expect(Self.modules.count > 20) }

  @Test("No doc comment begins with a question word, and none uses old-fashioned words", arguments: modules)
  func commentsArePlain(module: String) throws {
    var found: [String] = []
    for (file, lines) in try swiftFiles(below: "Sources/\(module)") {
      for (index, line) in lines.enumerated() {
        let text = line.drop { $0 == " " }
        let isFirstOfBlock = index == 0 || !lines[index - 1].drop { $0 == " " }.hasPrefix("///")
        let isQuestion =
          isFirstOfBlock && text.prefixMatch(of: /\/\/\/ (?:What|Which|Who|Whose|Whom|Where|How|Why)\b/) != nil
        if isQuestion || line.firstMatch(of: /\b(?:anew|mend|mends|mended|mending)\b/) != nil {
          found.append("\(file):\(index + 1)")
        }
      }
    }
    #expect(found == [])
  }

  @Test("No line is longer than 120 columns, except within multi-line strings", arguments: modules)
  func linesAreShort(module: String) throws {
    var found: [String] = []
    for (file, lines) in try swiftFiles(below: "Sources/\(module)") {
      var isWithinString = false
      for (index, line) in lines.enumerated() {
        if line.count > 120, !isWithinString { found.append("\(file):\(index + 1)") }
        if line.components(separatedBy: "\"\"\"").count.isMultiple(of: 2) { isWithinString.toggle() }
      }
    }
    #expect(found == [])
  }

  /// The lines of every Swift file below a folder of the repository.
  private func swiftFiles(below folder: String) throws -> [(file: String, lines: [String])] {
    let root = tree.root.appending(path: folder)
    var result: [(String, [String])] = []
    let files = FileManager.default.enumerator(atPath: root.path)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift") else { continue }
      let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
      result.append(("\(folder)/\(file)", text.components(separatedBy: "\n")))
    }
    return result
  }
}
