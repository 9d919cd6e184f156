import Foundation

/// A form of a page, as far as a browser without scripts would submit it.
struct HTMLForm: Sendable {
  var action: String
  var method: String
  /// Name and value of every named input that would be sent, in order.
  var inputs: [(String, String)]
  /// Name and value of each named button.
  var buttons: [(String, String)]

  /// Every form of a page.
  static func all(in html: String) -> [HTMLForm] {
    var forms: [HTMLForm] = []
    var current: HTMLForm?
    for tag in HTMLTag.all(in: html) {
      switch tag.name {
      case "form":
        current = HTMLForm(
          action: tag["action"] ?? "", method: (tag["method"] ?? "get").uppercased(), inputs: [], buttons: [])
      case "/form":
        if let form = current { forms.append(form) }
        current = nil
      case "input":
        guard let name = tag["name"], !name.isEmpty else { continue }
        let pair = (name, tag["value"] ?? (tag["type"] == "checkbox" || tag["type"] == "radio" ? "on" : ""))
        switch tag["type"]?.lowercased() ?? "text" {
        case "submit": current?.buttons.append(pair)
        case "checkbox", "radio": if tag["checked"] != nil { current?.inputs.append(pair) }
        default: current?.inputs.append(pair)
        }
      case "button":
        if let name = tag["name"] { current?.buttons.append((name, tag["value"] ?? "")) }
      default: break
      }
    }
    return forms
  }

  /// The same form with some inputs changed or added.
  func filling(_ values: [String: String]) -> HTMLForm {
    var form = self
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      form.inputs.removeAll { $0.0 == name }
      form.inputs.append((name, value))
    }
    return form
  }
}

/// A start tag or end tag (its name then begins with `/`).
struct HTMLTag: Sendable {
  let name: String
  private let attributes: [String: String]

  subscript(attribute: String) -> String? { attributes[attribute] }

  static func all(in html: String) -> [HTMLTag] {
    var tags: [HTMLTag] = []
    var rest = Substring(html)
    while let open = rest.firstIndex(of: "<") {
      rest = rest[rest.index(after: open)...]
      if rest.hasPrefix("!--") {
        rest = rest.range(of: "-->").map { rest[$0.upperBound...] } ?? ""
        continue
      }
      var name = ""
      while let first = rest.first, first.isLetter || first == "/" || first.isNumber {
        name.append(first)
        rest.removeFirst()
        if first == "/" && name != "/" { break }
      }
      guard !name.isEmpty else { continue }
      tags.append(HTMLTag(name: name.lowercased(), attributes: scanAttributes(&rest)))
      // The content of a script or style is not markup.
      if name.lowercased() == "script" || name.lowercased() == "style" {
        rest = rest.range(of: "</\(name)", options: .caseInsensitive).map { rest[$0.lowerBound...] } ?? ""
      }
    }
    return tags
  }

  private static func scanAttributes(_ rest: inout Substring) -> [String: String] {
    var attributes: [String: String] = [:]
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "/" }
      guard let first = rest.first, first != ">" else {
        rest = rest.dropFirst()
        return attributes
      }
      let name = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != ">" && $0 != "/" }
      rest = rest[name.endIndex...].drop { $0.isWhitespace }
      var value: Substring = ""
      if rest.first == "=" {
        rest = rest.dropFirst().drop { $0.isWhitespace }
        if let quote = rest.first, quote == "\"" || quote == "'" {
          rest = rest.dropFirst()
          value = rest.prefix { $0 != quote }
          rest = rest[value.endIndex...].dropFirst()
        } else {
          value = rest.prefix { !$0.isWhitespace && $0 != ">" }
          rest = rest[value.endIndex...]
        }
      } else if name.isEmpty {
        rest = rest.dropFirst()
        continue
      }
      attributes[name.lowercased()] = HTMLText.unescape(String(value))
    }
  }
}

/// Character references.
enum HTMLText {
  static func unescape(_ text: String) -> String {
    var result = ""
    var rest = Substring(text)
    while let mark = rest.firstIndex(of: "&") {
      result += rest[..<mark]
      rest = rest[mark...]
      guard let end = rest.firstIndex(of: ";"), let character = decode(rest[rest.index(after: mark)..<end]) else {
        result += "&"
        rest = rest.dropFirst()
        continue
      }
      result.append(character)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func decode(_ name: Substring) -> Character? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    case "nbsp": return "\u{A0}"
    default:
      guard name.hasPrefix("#") else { return nil }
      let digits = name.dropFirst()
      let isHex = digits.hasPrefix("x") || digits.hasPrefix("X")
      return UInt32(isHex ? digits.dropFirst() : digits, radix: isHex ? 16 : 10)
        .flatMap(Unicode.Scalar.init).map(Character.init)
    }
  }
}
