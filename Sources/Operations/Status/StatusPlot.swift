internal import WebFormats

/// A small plot of the last hour as inline SVG: a value a minute, the newest at the right. The picture has no text; the
/// legend beneath it names the lines and the highest value.
struct StatusPlot {
  /// The lines of one plot, on one scale, from back to front.
  let lines: [Line]
  /// The text for screen readers.
  let label: String
  /// The format of the scale's values.
  var write: (Double) -> String = StatusNumbers.short

  /// One line.
  struct Line {
    /// The name in the legend; empty for a single line.
    var name = ""
    /// The appearance.
    var look = Look.plain
    /// A value a minute; nil for gaps.
    let values: [Double?]
  }

  /// The meaning of a line.
  enum Look: String {
    /// The line that counts, with what is below it shaded.
    case plain
    /// Beside it, dashed.
    case beside
    /// Failures.
    case trouble
  }

  private static let (width, height) = (300.0, 56.0)

  /// The largest value, and never zero, so that a quiet hour is a line at the bottom.
  var ceiling: Double { max(highest ?? 0, 1e-9) }

  private var highest: Double? { lines.flatMap(\.values).compactMap(\.self).max() }

  var svg: Markup {
    var body: Markup = ""
    for line in lines {
      let values = line.values
      let path = Self.path(values, ceiling: ceiling)
      guard !path.isEmpty else { continue }
      if line.look == .plain {
        for run in Self.runs(values) where run.count > 1 {
          let shape = Self.points(run, values, ceiling).map { "\($0.0) \($0.1)" }.joined(separator: "L")
          let (first, last) = (Self.x(run.lowerBound, values.count), Self.x(run.upperBound - 1, values.count))
          body += #"<path class="area" d="M\#(first) \#(Self.number(Self.height))L\#(shape)"#
          body += #"L\#(last) \#(Self.number(Self.height))Z"/>"#
        }
      }
      body += #"<path class="line \#(line.look.rawValue)" d="\#(path)"/>"#
    }
    return """
      <svg class="plot" viewBox="0 -2 300 60" preserveAspectRatio="none" role="img" aria-label="\(label)">\
      <path class="base" d="M0 56H300"/>\(body)</svg>
      """
  }

  /// The names of the lines, if there is more than one, and the value at the top of the plot.
  var legend: Markup {
    let named = lines.filter { !$0.name.isEmpty }
      .sorted { $0.look == .plain && $1.look != .plain }.map { line -> Markup in
        #"<li><i class="\#(line.look.rawValue)"></i>\#(line.name)</li>"#
      }
    let top = highest.map { $0 > 0 ? "<li class=\"top\">up to \(write($0))</li>" as Markup : "" } ?? ""
    return "<ul class=\"legend\">\(Markup(joining: named))\(top)</ul>"
  }

  private static func path(_ line: [Double?], ceiling: Double) -> String {
    runs(line).map { run in
      let points = points(run, line, ceiling)
      // A single value is drawn as a short dash, because a path of one point is invisible.
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

  /// The ranges of consecutive values without a gap.
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
