import Foundation
import Testing

// The folders of the data plane are layers: a file names types of its own folder and of the folders below it, never of
// one above. What a file names is found in its text, without comments and strings.

@Suite("The layers of the data plane")
struct DataPlaneLayers {
  /// The folders that each folder may name.
  private static let arrows: [String: Set<String>] = [
    "Downstream": ["Exchange", "Upstream", "Forwarding", "Loop", "Sockets"],
    "Exchange": ["Upstream", "Forwarding", "Loop", "Sockets"],
    "Upstream": ["Loop", "Sockets"],
    "Forwarding": ["Loop", "Sockets"],
    "Loop": ["Sockets"],
    "Sockets": [],
  ]

  private struct Source {
    let path: String
    let code: String
    var folder: String { String(path.split(separator: "/")[0]) }
  }

  private let files: [Source]

  init() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/DataPlane")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
    files = try paths.sorted().map { path in
      Source(path: path, code: Self.code(of: try String(contentsOf: root.appending(path: path), encoding: .utf8)))
    }
  }

  /// A file's text without comments and string literals.
  private static func code(of text: String) -> String {
    text.replacing(#/"""[\s\S]*?"""/#, with: "\"\"").replacing(#/"(?:\\.|[^"\\\n])*"/#, with: "\"\"")
      .replacing(#//\/[^\n]*/#, with: "")
  }

  /// The types that a file declares for others, at its top level.
  private static func declarations(in code: String) -> [String] {
    code.split(separator: "\n").compactMap { line in
      guard !line.hasPrefix("private "), !line.hasPrefix("fileprivate ") else { return nil }
      let words = line.split(separator: " ")
      guard line.first != " ",
        let place = words.firstIndex(where: {
          ["struct", "class", "enum", "protocol", "actor", "typealias"].contains($0)
        }),
        place + 1 < words.count
      else { return nil }
      return String(words[place + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
  }

  @Test("Code is found without its comments and strings, and declarations without the private ones")
  func scanning() {
    let text = "/// ``Listener``\nlet a = \"Listener \\\" // \" + b // Listener\nfinal class Listener: Base<T> {}\n"
    #expect(Self.code(of: text) == "\nlet a = \"\" + b \nfinal class Listener: Base<T> {}\n")
    #expect(Self.declarations(in: Self.code(of: text)) == ["Listener"])
    #expect(Self.declarations(in: "private struct A {}\npackage enum B: C {\n  struct D {}\n}") == ["B"])
  }

  @Test("Every folder of the data plane is a layer, and every layer a folder")
  func folders() {
    #expect(Set(files.map(\.folder)) == Set(Self.arrows.keys))
    #expect(files.count > 60)
  }

  @Test("No file names a type of a layer above its own")
  func arrowsPointDown() throws {
    var homes: [String: Source] = [:]
    for file in files {
      for name in Self.declarations(in: file.code) { homes[name] = file }
    }
    #expect(homes.count > 80)
    var wrong: [String] = []
    for file in files {
      let allowed = Self.arrows[file.folder] ?? []
      let names = Set(file.code.matches(of: #/\b[A-Z][A-Za-z0-9_]*\b/#).map { String($0.output) })
      for name in names.sorted() {
        guard let home = homes[name], home.folder != file.folder, !allowed.contains(home.folder) else { continue }
        wrong.append("\(file.path) names \(name) of \(home.path)")
      }
    }
    #expect(wrong == [])
  }
}
