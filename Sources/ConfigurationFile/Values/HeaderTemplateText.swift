import Secrets
import Sessions
import WebFormats

/// The text of a header template: `{claim}`, `{claim|filter|filter}`, `{{` for a brace, `${NAME}` for a variable of the
/// environment, whose value is inserted and never parsed.
struct HeaderTemplateText {
  private let written: String
  private let path: NodePath
  private var rest: ArraySlice<UInt8>
  private var parts: [HeaderTemplate.Part] = []
  private var text: [UInt8] = []

  /// Whether a text is a template rather than the name of a claim.
  static func isTemplate(_ written: String) -> Bool {
    let bytes = Array(written.utf8)
    return bytes.indices.contains { place in
      bytes[place] == UInt8(ascii: "{") && (place == 0 || bytes[place - 1] != UInt8(ascii: "$"))
    }
  }

  /// Reads a template; nil, and a problem, if it is invalid. Problems do not repeat the text, which may be a password.
  static func parse(_ node: Node, at path: NodePath, _ context: inout DecodingContext) -> HeaderTemplate? {
    guard case .string(let written) = node else {
      context.report(
        at: path, "\(path) is \(node.describedKind)", remedy: "write a text, as in \"{email}\", \"prod\" or \"${NAME}\""
      )
      return nil
    }
    var parser = HeaderTemplateText(written, path)
    return parser.parse(&context)
  }

  private init(_ written: String, _ path: NodePath) {
    self.written = written
    self.path = path
    rest = Array(written.utf8)[...]
  }

  private mutating func parse(_ context: inout DecodingContext) -> HeaderTemplate? {
    guard !rest.isEmpty else {
      context.report(at: path, "\(path) is empty", remedy: "write a value, or remove the line")
      return nil
    }
    while let byte = rest.first {
      if rest.starts(with: "$${".utf8) {
        text += "${".utf8
        rest = rest.dropFirst(3)
      } else if rest.starts(with: "${".utf8) {
        guard let value = context.variable(&rest, at: path) else { return nil }
        guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
          context.report(
            at: path, "\(path): the value of an environment variable has a line break or another control character",
            remedy: "set the variable without it, also at its end")
          return nil
        }
        text += value.utf8
      } else if rest.starts(with: "{{".utf8) {
        text.append(byte)
        rest = rest.dropFirst(2)
      } else if byte == UInt8(ascii: "{") {
        do throws(Diagnostic) {
          let claim = try claim()
          endText()
          parts.append(.claim(claim))
        } catch {
          context.report(at: path, "\(path): character \(position) \(error.problem)", remedy: error.remedy)
          return nil
        }
      } else if byte < 0x20 || byte == 0x7F {
        context.report(
          at: path, "\(path): character \(position) is a control character", remedy: "remove it")
        return nil
      } else {
        text.append(byte)
        rest = rest.dropFirst()
      }
    }
    endText()
    guard !parts.isEmpty else {
      context.report(at: path, "\(path) is empty", remedy: "set the environment variable, or remove the line")
      return nil
    }
    return HeaderTemplate(source: written, parts: parts)
  }

  private mutating func endText() {
    if !text.isEmpty { parts.append(.text(TemplateText(text))) }
    text = []
  }

  /// The position of the next character, from 1.
  private var position: Int {
    String(decoding: Array(written.utf8)[..<rest.startIndex], as: UTF8.self).unicodeScalars.count + 1
  }

  private static let filters = ["local:DOMAIN", "lower", "upper", "percent", "utf8", "latin1"]

  /// Takes `{claim|filter…}` from the front.
  private mutating func claim() throws(Diagnostic) -> HeaderTemplate.Claim {
    guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
      throw Diagnostic("begins a claim that does not end", remedy: "write \"{claim}\", or \"{{\" for a brace")
    }
    let words = rest[(rest.startIndex + 1)..<end].split(
      separator: UInt8(ascii: "|"), omittingEmptySubsequences: false
    ).map { String(decoding: $0, as: UTF8.self) }
    do throws(Diagnostic) {
      try IdentityHeaderText.checkClaim(words[0])
    } catch {
      throw Diagnostic("begins \(Self.shown(words[0])), which \(error.problem)", remedy: error.remedy)
    }
    var claim = HeaderTemplate.Claim(words[0])
    for word in words.dropFirst() { try add(word, to: &claim) }
    rest = rest[(end + 1)...]
    return claim
  }

  private func add(_ word: String, to claim: inout HeaderTemplate.Claim) throws(Diagnostic) {
    guard claim.encoding == nil else {
      throw Diagnostic(
        "begins a claim with a filter after its encoding",
        remedy: "write percent, utf8 or latin1 last, and one of them")
    }
    let parts = word.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(decoding: Array($0), as: UTF8.self) }
    switch (parts[0], parts.count > 1 ? parts[1] : nil) {
    case ("lower", nil): claim.filters.append(.lower)
    case ("upper", nil): claim.filters.append(.upper)
    case ("percent", nil): claim.encoding = .percent
    case ("utf8", nil): claim.encoding = .utf8
    case ("latin1", nil): claim.encoding = .latin1
    case ("local", let domain):
      guard let domain, Self.isDomain(domain) else {
        throw Diagnostic(
          "begins a claim with local, but without a domain",
          remedy: "write \"{email|local:example.com}\": addresses of other domains are not sent")
      }
      guard claim.name.utf8.elementsEqual("email".utf8) else {
        throw Diagnostic("begins a claim that is not an address, with local", remedy: "local is for {email} only")
      }
      claim.filters.append(.local(domain: domain))
    default:
      let names = Self.filters.map { String($0.prefix { $0 != ":" }) }
      throw Diagnostic(
        "begins a claim with the filter \(Self.shown(word)), which there is not",
        remedy: NearestKey.find(parts[0], among: names).map { "did you mean \($0)?" }
          ?? "write one of \(Self.filters.joined(separator: ", "))")
    }
  }

  private static func isDomain(_ text: String) -> Bool {
    guard let authority = Authority(parsing: text.utf8), authority.port == nil else { return false }
    return Host.address(authority.host) == nil && text.utf8.first != UInt8(ascii: ".")
  }

  private static func shown(_ text: String) -> String { WrittenText(value: text, written: text).shown }
}
