internal import WebFormats

/// A link to one of our own pages, or within the application.
struct Link: Sendable, Equatable {
  let href: Markup

  /// A path as it is. It begins with `/` and no second one, or the front page is taken for it.
  /// - Parameter origin: of the page; empty for that of the page with the link.
  init(path: String, origin: String = "") { href = Markup(escaping: origin + Self.local(path)) }

  /// The path, or the front page's.
  static func local(_ path: String) -> String {
    let bytes = Array(path.utf8.prefix(2))
    let isLocal = bytes.first == UInt8(ascii: "/") && bytes.dropFirst().allSatisfy { !"/\\".utf8.contains($0) }
    return isLocal ? path : "/"
  }

  /// One of our pages, with the path to go to afterwards as `return_to`.
  init(page: String, returnTo: String, adding parameters: String = "", origin: String = "") {
    self.init(
      path: page + "?return_to=" + PercentEncoding.encode(returnTo, keepsSlash: true) + parameters, origin: origin)
  }
}

extension Markup {
  /// Hidden fields of a form, one a line.
  init(hiddenFields fields: [(name: String, value: String)]) {
    self.init(lines: fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" })
  }
}
