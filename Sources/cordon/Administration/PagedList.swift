/// Prints a long list page by page: a table, or a JSON array with `--json`.
struct PagedList<Element: Encodable> {
  private let gateway: RunningGatewayOptions
  private var table: TextTable
  private var count = 0
  private let row: (Element) -> [String]

  init(_ gateway: RunningGatewayOptions, headings: [String], row: @escaping (Element) -> [String]) {
    self.gateway = gateway
    table = TextTable(headings)
    self.row = row
  }

  /// Prints everything.
  /// - Parameters:
  ///   - name: what is listed, for the progress line.
  ///   - ifEmpty: the text for an empty list.
  ///   - remedy: the command for an element that is damaged.
  ///   - ask: a page after this place, the place to go on after, and the names of elements that are damaged.
  mutating func print(
    _ name: String, ifEmpty: String, remedy: String,
    ask: (String?) async throws -> (elements: [Element], next: String?, damaged: [String?]?)
  ) async throws {
    let line = StatusLine()
    var damaged: [String?] = []
    var after: String?
    repeat {
      line.show(count == 0 ? "Asking the gateway" : "\(grouped(count)) \(name)")
      let page: (elements: [Element], next: String?, damaged: [String?]?)
      do {
        page = try await ask(after)
      } catch {
        line.clear()
        throw error
      }
      line.clear()
      try print(page.elements)
      damaged += page.damaged ?? []
      after = page.next
    } while after != nil
    if gateway.json {
      cordon.print(count == 0 ? "[]" : "\n]")
    } else if count == 0, damaged.isEmpty {
      cordon.print(ifEmpty)
    }
    noteDamaged(damaged, remedy: remedy)
  }

  private mutating func print(_ elements: [Element]) throws {
    guard !elements.isEmpty else { return }
    if gateway.json {
      for element in elements {
        cordon.print(count == 0 ? "[" : ",")
        cordon.print(try jsonLine(element), terminator: "")
        count += 1
      }
    } else {
      table.print(elements.map(row))
      count += elements.count
    }
  }
}

/// Notes on standard error that a list leaves out records that are damaged.
///
/// - Parameters:
///   - names: their names, nil where one cannot be read.
///   - remedy: the command that removes one of them.
func noteDamaged(_ names: [String?]?, remedy: String) {
  for name in names ?? [] {
    let text = name.map { printable($0) } ?? "a record without a readable name"
    printError("note: \(text) is damaged and not listed; \(remedy)")
  }
}
