import Sessions

/// Renders `gateway.conf.sample`: every key with its purpose, commented out unless it is required.
package enum SampleFile {
  private static let width = 100

  /// The whole file, in lines of at most 100 columns; it is valid, with examples for the required keys.
  package static func text() -> String {
    var parts = [head]
    for section in ConfigurationSchema.all { parts.append(text(of: section, header: "[\(section.name)]")) }
    parts += [groups, listeners, upstreams, hosts, routes]
    return parts.joined(separator: "\n\n\n") + "\n"
  }

  private static let head = comment(
    """
    Cordon puts Sign in with Apple in front of a web application. This file has every key.

    Copy it to gateway.conf, fill in what is not commented out, name in [access] who is admitted (without it, \
    everybody with an Apple Account is), and check it:
    . cordon keygen --output session.key
    . cordon check --config gateway.conf
    . cordon run --config gateway.conf

    The file is TOML (https://toml.io). What is commented out shows the default, or an example if there is none. \
    Durations have a unit: ms, s, m, h, d. Sizes too: B, KiB, MiB, GiB. Relative paths are relative to this file. \
    "${NAME}" in a text is the environment variable of that name, so that secrets need not be in this file.
    """)

  private static func text<Target>(of section: Section<Target>, header: String) -> String {
    var blocks: [String] = []
    if section.name == ConfigurationSchema.identityHeaders.name { return identityHeaders(section) }
    if section.name == ConfigurationSchema.headers.name { return headers(section) }
    if !section.name.isEmpty {
      let rule = "# " + String(repeating: "-", count: width - 2)
      let introduction = section.introduction.isEmpty ? "" : "\n" + comment(section.introduction)
      blocks.append("\(rule)\(introduction)\n\(header)")
    }
    blocks += section.entries.map { text(of: $0.description) }
    return blocks.joined(separator: "\n\n")
  }

  private static func text(of entry: SchemaKeyDescription) -> String {
    let words = explanation(of: entry)
    switch entry.presence {
    case .required(let example): return "\(comment(words))\n\(entry.name) = \(example)"
    case .withDefault(let value): return "\(comment(words))\n#\(entry.name) = \(value)"
    case .optional(let example): return "\(comment(words))\n#\(entry.name) = \(example)"
    }
  }

  /// The purpose, and further information on separate lines.
  private static func explanation(of entry: SchemaKeyDescription) -> String {
    var facts: [String] = []
    if let unit = entry.unit { facts.append("Unit: \(unit).") }
    switch entry.presence {
    case .required: facts.append("Required.")
    case .withDefault(let value): facts.append("Default: \(value).")
    case .optional: break
    }
    if let omission = entry.omission { facts.append("Without it: \(omission)") }
    if !entry.seeAlso.isEmpty { facts.append("See also: \(entry.seeAlso.joined(separator: ", ")).") }
    return entry.purpose + "\n" + facts.joined(separator: " ")
  }

  /// The table of response headers, whose keys are chosen by the user.
  private static func headers(_ section: Section<some DecodingTarget>) -> String {
    comment(section.introduction) + "\n#[\(section.name)]\n#Strict-Transport-Security = \"max-age=31536000\""
  }

  /// The table of identity headers, whose keys are chosen by the user.
  private static func identityHeaders(_ section: Section<some DecodingTarget>) -> String {
    let headers = Configuration().identityHeaders.headers
      .map { "#\($0.name) = \(TOMLText.quoted($0.source))" }.joined(separator: "\n")
    return comment(
      section.introduction + " The default is what is commented out here; a table of your own replaces all of it.")
      + "\n#[\(section.name)]\n" + headers
  }

  private static var groups: String {
    keys(of: ConfigurationSchema.group) + """


      #[[group]]
      #name = "staff"
      #members = ["001234.0123456789abcdef0123456789abcdef.0123", "ada@example.com", "@example.com"]
      #members_file = "staff.txt"
      """
  }

  private static var listeners: String {
    keys(of: ConfigurationSchema.listener) + """


      #[[listener]]
      #name = "internal"
      #address = "127.0.0.1:8081"
      """
  }

  private static var upstreams: String {
    keys(of: ConfigurationSchema.upstreams) + "\n\n" + keys(of: ConfigurationSchema.upstreamsTimeouts) + """


      #[[upstreams]]
      #name = "reports"
      #urls = ["http://10.0.0.3:3000", "http://10.0.0.4:3000"]
      #check_path = "/health"
      #[upstreams.timeouts]
      #tunnel = "1h"
      """
  }

  private static var hosts: String {
    keys(of: ConfigurationSchema.host) + """


      #[[host]]
      #name = "wiki.example.com"
      #upstream = "reports"
      #application_name = "Wiki"
      """
  }

  /// The purposes of the keys of a repeatable table.
  private static func keys(of section: Section<some DecodingTarget>) -> String {
    let rule = "# " + String(repeating: "-", count: width - 2)
    let keys = section.entries.map { "#   \($0.description.name)\n" + comment(explanation(of: $0.description)) }
    return ([rule + "\n" + comment(section.introduction)] + keys).joined(separator: "\n\n")
  }

  private static var routes: String {
    var blocks = [keys(of: ConfigurationSchema.route)]
    blocks.append(
      """
      #[[route]]
      #path = "/public/"
      #access = "public"

      #[[route]]
      #path = "/api/"
      #unauthenticated = "401"

      #[[route]]
      #path = "/reports/"
      #upstream = "reports"

      #[[route]]
      #path = "/office/"
      #allow_subjects = ["001234.0123456789abcdef0123456789abcdef.0123"]
      #allow_emails = ["ada@example.com"]
      #allow_email_domains = ["example.com"]
      #allow_organizations = ["1234567"]

      #[[route]]
      #path = "/reports/changes/"
      #methods = ["GET", "POST"]
      #allow_groups = ["staff"]
      #networks = ["10.0.0.0/8"]
      #max_age = "12h"

      #[[route]]
      #host = "wiki.example.com"
      #path = "/private/"
      #allow_groups = ["staff"]

      #[[route]]
      #path = "/school/"
      #require_claims = ["scopes=edu.users.read"]
      """)
    return blocks.joined(separator: "\n\n")
  }

  private static func comment(_ text: String) -> String {
    // A line that begins with a dot is a command: it is indented, and not broken.
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix(". ") ? "#    \($0.dropFirst(2))" : Prose.wrap(String($0), width: width, prefix: "# ") }
      .joined(separator: "\n")
  }
}
