internal import WebFormats

/// A table that becomes a list of cards on a phone. Its roles are written out, because browsers forget them when a
/// stylesheet displays it otherwise.
struct Table {
  /// The names of the columns.
  let columns: [Markup]
  /// The caption, for screen readers.
  let caption: Markup
  private(set) var rows: [Markup] = []

  init(caption: Markup, columns: [Markup]) {
    self.caption = caption
    self.columns = columns
  }

  /// Adds a row with one cell for each column. The first names the row.
  mutating func add(_ cells: [Markup]) {
    let cells = zip(columns, cells).enumerated().map { index, cell -> Markup in
      let role: Markup = index == 0 ? "rowheader" : "cell"
      if cell.1.html.isEmpty { return "<td role=\"\(role)\" data-label=\"\(cell.0)\"></td>" }
      return "<td role=\"\(role)\" data-label=\"\(cell.0)\"><div>\(cell.1)</div></td>"
    }
    rows.append("<tr role=\"row\">\(Markup(lines: cells))</tr>")
  }

  var markup: Markup {
    let heads = columns.map { "<th role=\"columnheader\" scope=\"col\">\($0)</th>" as Markup }
    return """
      <table role="table"><caption class="unseen">\(caption)</caption>
      <thead role="rowgroup"><tr role="row">\(Markup(lines: heads))</tr></thead>
      <tbody role="rowgroup">
      \(Markup(lines: rows))
      </tbody></table>
      """
  }
}
