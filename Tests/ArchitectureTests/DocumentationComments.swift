import Foundation
import Testing

// What strangers read of a module: its package declarations and their comments.
//
// - Every package declaration says what it is: types, members, initializers, the cases of enumerations and what
//   protocols ask for.
// - No module with package declarations is left out of that.

@Suite("Documentation comments")
struct DocumentationComments {
  private let tree: SourceTree

  init() throws { tree = try SourceTree.current.get() }

  /// The keywords that may follow `package`.
  private static let declared = [
    "actor", "associatedtype", "case", "class", "enum", "func", "init", "let", "protocol", "static", "struct",
    "subscript", "typealias", "var", "mutating", "internal(set)", "private(set)", "consuming",
    "borrowing", "nonisolated", "indirect", "final", "override", "convenience", "required",
  ]

  /// The modules with package declarations, with the least number of declarations that must be found in each: a test
  /// that found none would pass.
  private static let modules = [
    ("AccessPolicy", 300), ("AppleIdentity", 350), ("AppleSimulator", 60), ("ConfigurationFile", 120),
    ("Cryptography", 30), ("DataPlane", 350), ("Gateway", 180), ("HTTPWire", 280), ("IdentityAssertion", 40),
    ("LoopbackTesting", 4), ("Operations", 350), ("Pages", 220), ("PostgreSQLServerTesting", 20),
    ("PostgreSQLSessions", 60), ("Processes", 5), ("RandomTesting", 3), ("SQLiteSessions", 60), ("Secrets", 30),
    ("SessionStoreTesting", 25), ("Sessions", 750), ("SocketTransport", 50), ("TLSTransport", 100),
    ("TemporaryDirectoryTesting", 6), ("Threads", 10), ("WaitingTesting", 5), ("WebFormats", 160),
  ]

  @Test("Every package declaration says what it is", arguments: modules)
  func packageDeclarations(module: String, least: Int) throws {
    let (count, silent) = try declarations(of: module)
    #expect(count >= least)
    #expect(silent == [])
  }

  @Test("Every module with package declarations is held to that")
  func everyModule() throws {
    let listed = Set(Self.modules.map(\.0))
    #expect(listed.isSubset(of: tree.modules.keys))
    let others = tree.modules.keys.filter { !listed.contains($0) }.sorted()
    #expect(others.contains("cordon"))
    let leftOut = try others.filter { try declarations(of: $0).count > 0 }
    #expect(leftOut == [])
  }

  /// The number of a module's package declarations, and the places of those without a comment.
  private func declarations(of module: String) throws -> (count: Int, silent: [String]) {
    var silent: [String] = []
    var count = 0
    let folder = tree.root.appending(path: "Sources/\(module)")
    let files = FileManager.default.enumerator(atPath: folder.path)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift") else { continue }
      let lines = try String(contentsOf: folder.appending(path: file), encoding: .utf8).components(separatedBy: "\n")
      for index in lines.indices where Self.isPackageDeclaration(lines[index]) || Self.isPackageMember(index, in: lines)
      {
        count += 1
        if Self.hidesCases(lines[index]) || !Self.hasComment(above: index, in: lines) {
          silent.append("\(module)/\(file):\(index + 1)")
        }
      }
    }
    return (count, silent)
  }

  private static func isPackageDeclaration(_ line: String) -> Bool {
    let words = line.split(separator: " ")
    guard words.first == "package", words.count > 1 else { return false }
    let word = words[1].prefix { $0 != "(" || words[1].hasSuffix("(set)") }
    // What a protocol of the standard library asks for is what that says.
    let asked = [
      "==", "var description:", "func hash(into", "var debugDescription:", "var customMirror:", "init(from decoder",
      "func encode(to", "func < (",
    ]
    if asked.contains(where: { line.contains($0) }) { return false }
    return declared.contains(String(word))
  }

  /// A case of an enumeration of the package, or what a protocol of the package asks for: neither says `package`
  /// itself.
  private static func isPackageMember(_ index: Int, in lines: [String]) -> Bool {
    let line = lines[index]
    let words = line.split(separator: " ")
    guard let word = words.first, ["case", "func", "var", "init", "associatedtype"].contains(word.prefix { $0 != "(" })
    else { return false }
    let indentation = line.prefix { $0 == " " }.count
    let around = lines[..<index].last { !$0.isEmpty && $0.prefix { $0 == " " }.count < indentation } ?? ""
    guard around.contains("package ") else { return false }
    return around.contains(word == "case" ? "enum " : "protocol ")
  }

  /// Whether an enumeration of the package has its cases on one line, without room for a comment.
  private static func hidesCases(_ line: String) -> Bool {
    line.contains("package ") && line.contains("enum ") && line.contains("{ case ")
  }

  /// A documentation comment above, attributes between.
  private static func hasComment(above index: Int, in lines: [String]) -> Bool {
    var index = index - 1
    while index >= 0 {
      let line = lines[index].drop { $0 == " " }
      if line.hasPrefix("@") { index -= 1 } else { return line.hasPrefix("///") }
    }
    return false
  }
}
