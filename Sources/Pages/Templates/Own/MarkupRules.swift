internal import WebFormats

/// Rules for a template's markup and the positions of variables. The content security policy forbids the same and more;
/// these rules report it to the operator beforehand.
struct MarkupRules {
  typealias Finding = (problem: String, remedy: String)

  private let rules: TemplateRules
  private(set) var follower = MarkupFollower()
  /// The form that is open.
  private var form: Form?
  private(set) var forms = 0

  private struct Form {
    var posts = false
    var hasAction = false
    var hasFields = false
    var hasButton = false
  }

  init(_ rules: TemplateRules) { self.rules = rules }

  /// Text of the template; each finding with its offset from the beginning.
  mutating func text(_ bytes: ArraySlice<UInt8>) -> [(Finding, offset: Int)] {
    var findings: [(Finding, offset: Int)] = []
    for (offset, byte) in bytes.enumerated() {
      switch follower.take(byte) {
      case .tag(let name)?: findings += tag(name).map { ($0, offset) }
      case .attribute(let name, let value)?: findings += attribute(name, value).map { ($0, offset) }
      case nil: break
      }
    }
    return findings
  }

  /// A value where the template is now.
  mutating func value(_ name: String, _ kind: TemplateRules.Kind) -> [Finding] {
    switch follower.position {
    case .text:
      if name == "fields", form == nil {
        return [("{{fields}} stands in no form", "move it between <form …> and </form>")]
      }
      if name == "fields" { form?.hasFields = true }
      guard kind == .link else { return [] }
      return [("{{\(name)}} is an address", "put it into an attribute, as in href=\"{{\(name)}}\"")]
    case .quoted:
      let isAddress = Self.addresses.contains(follower.attributeName)
      if follower.tagName == "form", follower.attributeName == "action", name == "action" { form?.hasAction = true }
      if kind == .markup {
        return [("{{\(name)}} is markup, and stands in an attribute", "put it between tags")]
      }
      if isAddress, kind == .text || !follower.value.isEmpty {
        return [
          ("{{\(name)}} stands in an address", "only one of the page's own addresses can, and nothing before it")
        ]
      }
      return []
    case .tagName, .tag, .attributeName, .beforeValue, .unquoted, .comment:
      return [
        (
          "{{\(name)}} stands within a tag or a comment, outside quotation marks",
          "put it between tags, or between the quotation marks of an attribute"
        )
      ]
    }
  }

  /// Checks at the end of the template.
  mutating func end() -> [Finding] {
    var findings: [Finding] = follower.position == .text ? [] : [("a tag or comment is not closed", "close it")]
    if form != nil { findings.append(("a form is not closed", "write </form>")) }
    if rules.form == .one, forms != 1 {
      findings.append(("there are \(forms) forms", "write one: <form method=\"post\" action=\"{{action}}\">"))
    }
    return findings
  }

  private mutating func tag(_ name: String) -> [Finding] {
    switch name {
    case "form":
      guard rules.form != .none else {
        return [("a form, on a page that has none", "link to a page of the application with the form")]
      }
      (form, forms) = (Form(), forms + 1)
    case "button": form?.hasButton = true
    case "/form": return endForm()
    case "style": return [("<style> is not allowed by the page's policy", "write it to style.css")]
    case "script", "iframe", "frame", "object", "embed", "applet", "base", "portal", "fencedframe":
      return [("<\(name)> is not allowed by the page's policy", "leave it out")]
    default: break
    }
    return []
  }

  private mutating func endForm() -> [Finding] {
    guard let form else { return [] }
    self.form = nil
    var findings: [Finding] = []
    if !form.posts || !form.hasAction {
      findings.append(("the form does not post to {{action}}", "write <form method=\"post\" action=\"{{action}}\">"))
    }
    if !form.hasFields { findings.append(("{{fields}} is missing in the form", "write it before </form>")) }
    if !form.hasButton {
      findings.append(("the form has no button", "write <button type=\"submit\">…</button> before </form>"))
    }
    return findings
  }

  private mutating func attribute(_ name: String, _ value: [UInt8]) -> [Finding] {
    let lowercased = value.map(\.asciiLowercased)
    if name == "style" { return [("style=\"…\" is not allowed by the page's policy", "write it to style.css")] }
    if name.utf8.starts(with: "on".utf8) {
      return [("\(name)=\"…\" is a script, which the page's policy does not allow", "leave it out")]
    }
    if follower.tagName == "form", name == "method", lowercased.elementsEqual("post".utf8) { form?.posts = true }
    if name == "formaction" || name == "action" && !value.isEmpty {
      return [("a form that goes elsewhere", "leave \(name) out, but for action=\"{{action}}\" of the form")]
    }
    if Self.loads.contains(name), !Self.isLocal(lowercased) {
      return [("\(name) of another origin is not allowed by the page's policy", "serve it by a public route")]
    }
    if name == "href", lowercased.starts(with: "javascript:".utf8) {
      return [("a script as an address", "link to a page")]
    }
    return []
  }

  /// Attributes that hold an address.
  private static let addresses: Set<String> = [
    "href", "src", "srcset", "action", "formaction", "poster", "background", "cite", "data", "ping", "manifest",
  ]
  /// Attributes from which something is loaded into the page.
  private static let loads: Set<String> = ["src", "srcset", "poster", "background"]

  /// Empty (a value of the template), a path, or a picture within the page.
  private static func isLocal(_ value: [UInt8]) -> Bool {
    value.isEmpty || value.starts(with: "data:".utf8)
      || value.first == UInt8(ascii: "/") && !value.dropFirst().starts(with: "/".utf8)
  }
}
