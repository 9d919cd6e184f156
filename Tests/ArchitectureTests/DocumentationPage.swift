import Foundation

/// A page of Markdown, and what it names.
struct DocumentationPage {
  /// Below the root of the repository.
  let path: String
  let text: String
  /// Without blocks of code.
  private let prose: String

  init(_ path: String, in root: URL) throws {
    self.path = path
    text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    prose = text.replacing(/(?s)```.*?```/, with: "")
  }

  /// The targets of its links, as they are written.
  var links: [String] { prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }

  /// The text in backquotes.
  var names: [String] { prose.matches(of: /`([^`\n]+)`/).map { String($0.1) } }

  /// The cells of each row of its tables.
  var rows: [[String]] {
    prose.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// The names of its headings in links: lower case, without punctuation, with hyphens for spaces.
  var anchors: Set<String> {
    Set(
      prose.matches(of: /(?m)^#+ (.*)$/).map { match in
        let heading = match.1.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }.lowercased()
        return String(heading.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.map { $0 == " " ? "-" : $0 })
      })
  }

  /// A relative link, from the root.
  func resolve(_ link: String) -> String {
    var parts = path.split(separator: "/").dropLast().map(String.init)
    for part in link.split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
    }
    return parts.joined(separator: "/")
  }

  /// Every file and folder of the repository, but what is built and what is hidden.
  static func paths(below root: URL) throws -> Set<String> {
    var result: Set<String> = []
    let all = FileManager.default.enumerator(atPath: root.path)
    while let path = all?.nextObject() as? String {
      if path.split(separator: "/").last?.hasPrefix(".") == true {
        all?.skipDescendants()
      } else {
        result.insert(path)
      }
    }
    return result
  }
}
