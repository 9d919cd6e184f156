internal import WebFormats

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
    let select: Markup = "<select id=\"\(id)\" name=\"\(name)\">\(Markup(lines: options))</select>"
    return isHidden
      ? "<label class=\"unseen\" for=\"\(id)\">\(label)</label>\(select)"
      : "<div class=\"field short\"><label for=\"\(id)\">\(label)</label>\(select)</div>"
  }

  /// An instant in UTC, to the minute.
  static func time(_ instant: PageTime) -> Markup {
    "<time datetime=\"\(instant.machineText)\" dir=\"ltr\">\(instant.text)</time>"
  }
}
