import Foundation
import Testing

// Types and members that the pages about the code name are declared. `DocumentedNames` compares the other names.

@Suite("Names of the code in the documentation")
struct DeclaredNames {
  private let tree: SourceTree
  /// Every file and folder of the repository, below its root.
  private let paths: Set<String>

  init() throws {
    tree = try SourceTree.current.get()
    paths = try DocumentationPage.paths(below: tree.root)
  }

  @Test("Every type and member that the pages about the code name is declared")
  func declarations() throws {
    let (types, members) = try declared()
    var unknown: [String] = []
    var count = 0
    for title in ["ARCHITECTURE", "LIFE-OF-A-REQUEST", "THREAT-MODEL"] {
      let page = try DocumentationPage("Documentation/\(title).md", in: tree.root)
      for name in page.names where !name.hasSuffix(".swift") && name != "SameSite" {
        guard let match = name.wholeMatch(of: /([A-Z][A-Za-z0-9]*)(?:\.([a-z][A-Za-z0-9]*)(?:\(.*\))?)?/) else {
          continue
        }
        let type = String(match.1)
        let member = match.2.map { String($0) }
        // Words without another capital, or of capitals only, are of the field: `Origin`, `GOAWAY`.
        let isType = type.dropFirst().contains { $0.isUppercase } && type.contains { $0.isLowercase }
        guard isType || member != nil else { continue }
        count += 1
        let isTypeThere = types.contains(type) || paths.contains("Sources/\(type)")
        let isMemberThere = member.map { members.contains($0) } ?? true
        if !isTypeThere || !isMemberThere { unknown.append("\(title): \(name)") }
      }
    }
    #expect(count > 150)
    #expect(unknown == [])
  }

  /// The names that the sources and these tests declare.
  private func declared() throws -> (types: Set<String>, members: Set<String>) {
    var types: Set<String> = []
    var members: Set<String> = ["init"]
    for path in paths where path.hasSuffix(".swift") {
      guard path.hasPrefix("Sources/") || path.hasPrefix("Tests/ArchitectureTests/") else { continue }
      let text = try String(contentsOf: tree.root.appending(path: path), encoding: .utf8)
      var keyword = ""
      for bytes in text.utf8.split(whereSeparator: { !Self.isPartOfName($0) }) {
        let word = String(decoding: bytes, as: UTF8.self)
        switch keyword {
        case "struct", "class", "enum", "actor", "protocol", "typealias": types.insert(word)
        case "func", "var", "let", "case": members.insert(word)
        default: break
        }
        keyword = word
      }
    }
    return (types, members)
  }

  /// Whether a byte is a letter, a digit or an underscore of ASCII.
  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
    default: false
    }
  }
}
