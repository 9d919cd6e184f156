import ConfigurationFile

/// Translation of oauth2-proxy's access restrictions: users in any of the domains or addresses are admitted. A
/// restriction without an equivalent denies everything, with the reason as a comment, and so does an option that the
/// import does not know: it may be a restriction.
struct OAuth2ProxyAccess {
  private var emails: [String] = []
  private var domains: [String] = []
  /// A file of addresses that is a `members_file` as it is.
  private var membersFile: String?
  /// Whether `email_domains` has `*`.
  private var admitsEverybody = false
  /// The reason why everything is denied; empty where the restrictions could be translated.
  private var reasons: [String] = []
  /// The options that the import does not know.
  private var unknown: [String] = []
  /// Entries that were omitted from the lists, for a comment.
  private var notes: [String] = []

  /// Denies everything, for this reason.
  mutating func deny(_ reason: String) { reasons.append(reason) }

  // MARK: Options

  /// `email_domains`.
  mutating func add(domains list: [String]) -> ImportedConfiguration.Outcome {
    var dropped: [String] = []
    for text in list {
      let domain = text.lowercased()
      if domain == "*" {
        admitsEverybody = true
      } else if OAuth2ProxyValue.isDomain(domain) {
        if !domains.contains(domain) { domains.append(domain) }
      } else {
        dropped.append(text)
      }
    }
    if admitsEverybody { return .unneeded("everybody who is signed in may pass, unless a route says otherwise") }
    guard !dropped.isEmpty else { return .translated }
    let names = dropped.map { "\"\($0)\"" }.joined(separator: ", ")
    notes.append("not translated from email_domains: \(names)")
    return .left(
      "subdomains and patterns are not matched by a domain; name each in access.allow_email_domains: \(names)")
  }

  /// `authenticated_emails_file`.
  /// - Parameter contents: nil where it could not be read.
  mutating func add(file name: String, contents: [UInt8]?) -> ImportedConfiguration.Outcome {
    guard let contents, let text = String(validating: contents, as: UTF8.self) else {
      deny("authenticated_emails_file (\(name)) could not be read: its addresses belong into access.allow_emails")
      return .left(
        "it could not be read: write its addresses into access.allow_emails, and remove the route that denies")
    }
    if Self.isMembersFile(contents) {
      membersFile = name
      return .translated
    }
    var droppedLines = 0
    // As Go's CSV reader: `#` begins a comment, and the address is the first field.
    for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) where line.first != UInt8(ascii: "#") {
      let first = line.prefix { $0 != UInt8(ascii: ",") }.filter { $0 != 0x20 && $0 != 0x09 }
      guard !first.isEmpty else { continue }
      let isQuoted = first.count > 1 && first.first == UInt8(ascii: "\"") && first.last == UInt8(ascii: "\"")
      let address = String(decoding: isQuoted ? first.dropFirst().dropLast() : first[...], as: UTF8.self).lowercased()
      if !OAuth2ProxyValue.isAddress(address) {
        droppedLines += 1
      } else if !emails.contains(address) {
        emails.append(address)
      }
    }
    guard droppedLines > 0 else { return .translated }
    notes.append("lines of authenticated_emails_file that are not an address: \(droppedLines)")
    return .left("lines that are not an address were left out: \(droppedLines)")
  }

  /// Whether a file means the same to both: one address on each line, and comments.
  private static func isMembersFile(_ contents: [UInt8]) -> Bool {
    var isEmpty = true
    for line in contents.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) where line.first != UInt8(ascii: "#") {
      let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
      let text = line.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
      if text.isEmpty { continue }
      guard OAuth2ProxyValue.isAddress(String(decoding: Array(text), as: UTF8.self).lowercased()),
        text.first != UInt8(ascii: "#")
      else { return false }
      isEmpty = false
    }
    return !isEmpty
  }

  /// A restriction that Apple's accounts know nothing of: groups, roles, organizations of another provider.
  mutating func add(restriction name: String) -> ImportedConfiguration.Outcome {
    deny("\(name) restricted access by data that Apple does not provide: list the permitted users in [access]")
    return .left(
      "Apple does not provide this, so everything is denied: list the permitted users in [access] (allow_subjects, "
        + "allow_emails, allow_organizations, or allow_groups with a [[group]] of your own), in the place of other "
        + "lists there, because lists are alternatives, and remove the route that denies")
  }

  /// An option that the import does not know.
  mutating func add(unknown name: String) -> ImportedConfiguration.Outcome {
    unknown.append(name)
    return .left(
      "this translation does not know it, so everything is denied: find out whether it keeps users out, name those who "
        + "may pass in [access] if so, and remove the route that denies")
  }

  // MARK: The result

  private static let emailsKey = "access.allow_emails"
  private static let domainsKey = "access.allow_email_domains"
  private static let groupsKey = "access.allow_groups"
  /// The group whose members are in `authenticated_emails_file`.
  private static let group = "members"

  /// Looks at the restrictions as a whole, once every option was added.
  /// - Parameter isFromElsewhere: whether another provider decided who has an account at all.
  mutating func finish(isFromElsewhere: Bool) {
    if admitsEverybody {
      if isFromElsewhere, reasons.isEmpty {
        deny("every account of another provider could pass; here that would be everybody with an Apple Account")
      }
    } else if emails.isEmpty, domains.isEmpty, membersFile == nil, reasons.isEmpty {
      deny(
        notes.isEmpty
          ? "the file names no email_domains and no addresses: name those who may pass in [access]; email_domains = "
            + "[\"*\"] would be everybody who is signed in" : "nobody is left whom [access] could name")
    }
    // Last: what is said above has to be decided even if none of these options restricts anything.
    for name in unknown {
      deny("\(name) is not known to the import, and may keep users out: name those who may pass in [access] if it does")
    }
    if !reasons.isEmpty, !admitsEverybody, !emails.isEmpty || !domains.isEmpty || membersFile != nil {
      notes.append(Self.alternatives)
    }
  }

  /// oauth2-proxy admits a user who meets `email_domains` or the file, **and** the groups: a list beside these would
  /// admit more.
  private static let alternatives =
    "the lists of [access] are alternatives: where another restriction had to be met as well,\n"
    + "  write one list in their place, not beside them"

  /// Writes `[access]`, and the route that denies where one is needed.
  func write(to configuration: inout ConfigurationText, _ routes: inout OAuth2ProxyRoutes) {
    let comment = notes.isEmpty ? nil : notes.joined(separator: "\n")
    if !admitsEverybody {
      if !emails.isEmpty { configuration.set(Self.emailsKey, .texts(emails), comment: comment) }
      if !domains.isEmpty {
        configuration.set(Self.domainsKey, .texts(domains), comment: emails.isEmpty ? comment : nil)
      }
      if let membersFile {
        configuration.set(Self.groupsKey, .texts([Self.group]))
        configuration.append(
          "group", [("name", .text(Self.group)), ("members_file", .text(membersFile))],
          comment: "was authenticated_emails_file; a relative path is relative to this file")
      }
    }
    guard !reasons.isEmpty else { return }
    routes.close(
      comment: (["Closed by cordon import, until you have decided who may pass:"] + reasons.map { "- \($0)" }
        + notes.map { "- \($0)" }).joined(separator: "\n"))
  }
}
