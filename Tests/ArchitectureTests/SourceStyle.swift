import Foundation
import Testing

// How the sources are written, as far as a machine can tell.
//
// - swift-format finds nothing in Sources and Tests.
// - Sources promise nothing that the compiler does not check, and put nothing off.

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
}
