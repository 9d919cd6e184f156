/// A small plot of the last hour as inline SVG: a value a minute, the newest at the right. It has no text; what it shows
/// is said beside it.
struct StatusPlot {
  /// Lines of one plot, on one scale; nil where nothing was seen.
  let lines: [[Double?]]
  /// What a screen reader says.
  let label: String

  private static let (width, height) = (300.0, 56.0)

  /// The largest value, and never zero, so that a quiet hour is a line at the bottom.
  var ceiling: Double { max(lines.joined().compactMap(\.self).max() ?? 0, 1e-9) }

  var svg: HTMLText {
    var body = HTMLText()
    for (index, line) in lines.enumerated() {
      let path = Self.path(line, ceiling: ceiling)
      guard !path.isEmpty else { continue }
      if index == lines.count - 1 {
        for run in Self.runs(line) where run.count > 1 {
          let shape = Self.points(run, line, ceiling).map { "\($0.0) \($0.1)" }.joined(separator: "L")
          let (first, last) = (Self.x(run.lowerBound, line.count), Self.x(run.upperBound - 1, line.count))
          body += #"<path class="area a\#(index)" d="M\#(first) \#(Self.number(Self.height))L\#(shape)"#
          body += #"L\#(last) \#(Self.number(Self.height))Z"/>"#
        }
      }
      body += #"<path class="line a\#(index)" d="\#(path)"/>"#
    }
    return """
      <svg class="plot" viewBox="0 -2 300 60" preserveAspectRatio="none" role="img" aria-label="\(label)">\
      <path class="base" d="M0 56H300"/>\(body)</svg>
      """
  }

  private static func path(_ line: [Double?], ceiling: Double) -> String {
    runs(line).map { run in
      let points = points(run, line, ceiling)
      // A lone value is a short dash: a path of one point is nothing.
      guard points.count > 1 else { return points.map { "M\($0.0) \($0.1)h\(run.lowerBound > 0 ? -6 : 6)" }.joined() }
      return "M" + points.map { "\($0.0) \($0.1)" }.joined(separator: "L")
    }.joined()
  }

  private static func points(_ run: Range<Int>, _ line: [Double?], _ ceiling: Double) -> [(String, String)] {
    run.map { index in
      let value = min(max((line[index] ?? 0) / ceiling, 0), 1)
      return (x(index, line.count), number(height - value * (height - 2)))
    }
  }

  /// Where values stand one after the other without a gap.
  private static func runs(_ line: [Double?]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start: Int?
    for index in 0...line.count {
      let isThere = index < line.count && line[index] != nil
      if isThere, start == nil { start = index }
      if !isThere, let begun = start {
        runs.append(begun..<index)
        start = nil
      }
    }
    return runs
  }

  private static func x(_ index: Int, _ count: Int) -> String {
    number(count > 1 ? Double(index) * width / Double(count - 1) : 0)
  }

  /// With one decimal.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
  }
}
