/// A form that posts to one of our own pages. It needs no script.
struct Form {
  /// The path that it is posted to.
  let action: Link
  /// Hidden fields, names and values.
  var hidden: [(name: String, value: String)] = []

  /// The form around its visible content.
  /// - Parameter style: the class of the form.
  func markup(style: Markup = "buttons", _ content: Markup) -> Markup {
    """
    <form class="\(style)" method="post" action="\(action.href)">
    \(Markup(hiddenFields: hidden))
    \(content)
    </form>
    """
  }
}

extension Markup {
  /// A button that submits its form.
  /// - Parameter subject: the identifier of the element that names whom or what it concerns. Screen readers say both.
  static func button(_ label: Markup, style: Markup = "small", id: Markup? = nil, concerning subject: Markup? = nil)
    -> Markup
  {
    guard let id, let subject else { return "<button class=\"\(style)\" type=\"submit\">\(label)</button>" }
    return """
      <button class="\(style)" type="submit" id="\(id)" aria-labelledby="\(id) \(subject)">\(label)</button>
      """
  }

  /// A field of text with its label.
  /// - Parameters:
  ///   - kind: the `type` of the element.
  ///   - hint: a sentence below the label.
  static func field(
    _ name: Markup, label: Markup, kind: Markup = "text", value: String = "", limit: Int = 200, isShort: Bool = false,
    hint: Markup? = nil
  ) -> Markup {
    let style: Markup = isShort ? "field short" : "field"
    let note = hint.map { "<small id=\"\(name)-hint\">\($0)</small>" as Markup } ?? ""
    let described: Markup = hint == nil ? "" : " aria-describedby=\"\(name)-hint\""
    let limits: Markup =
      kind == "number" ? " min=\"1\" max=\"\(limit)\" inputmode=\"numeric\"" : " maxlength=\"\(limit)\""
    return """
      <div class="\(style)"><label for="\(name)">\(label)</label>\(note)
      <input id="\(name)" name="\(name)" type="\(kind)" value="\(value)"\(limits)\(described) autocomplete="off" \
      dir="auto"></div>
      """
  }

  /// A choice among texts.
  /// - Parameter label: said by screen readers where `isHidden`.
  static func choice(
    _ name: Markup, id: Markup, label: Markup, isHidden: Bool = false, of values: [String]
  ) -> Markup {
    let options = values.map { "<option value=\"\($0)\">\($0)</option>" as Markup }
    let style: Markup = isHidden ? "unseen" : ""
    let select: Markup = "<select id=\"\(id)\" name=\"\(name)\">\(Markup(lines: options))</select>"
    return isHidden
      ? "<label class=\"\(style)\" for=\"\(id)\">\(label)</label>\(select)"
      : "<div class=\"field short\"><label for=\"\(id)\">\(label)</label>\(select)</div>"
  }

  /// An instant in UTC, to the minute.
  static func time(_ instant: PageTime) -> Markup {
    "<time datetime=\"\(instant.machineText)\" dir=\"ltr\">\(instant.text)</time>"
  }
}

/// An instant as pages show it, in every language alike: `2026-11-22 23:05 UTC`.
package struct PageTime: Sendable, Equatable {
  /// Seconds since 1970.
  package let seconds: Int64

  /// - Parameter seconds: since 1970.
  package init(seconds: Int64) { self.seconds = seconds }

  /// `2026-11-22 23:05 UTC`.
  package var text: String {
    let (year, month, day, hour, minute) = parts
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2)) "
      + "\(Self.padded(hour, 2)):\(Self.padded(minute, 2)) UTC"
  }

  /// For `datetime`.
  var machineText: String {
    let (year, month, day, hour, minute) = parts
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
      + "T\(Self.padded(hour, 2)):\(Self.padded(minute, 2))Z"
  }

  /// The civil date of the proleptic Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date
  /// Algorithms").
  private var parts: (Int64, Int64, Int64, Int64, Int64) {
    // Between the years 1 and 9999: what is beyond them is shown as the nearest.
    let seconds = min(max(self.seconds, -62_135_596_800), 253_402_300_799)
    let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    let rest = seconds - days * 86_400
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, rest / 3_600, rest % 3_600 / 60)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
