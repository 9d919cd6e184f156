internal import WebFormats

extension AccessLists {
  /// Every problem of the lists. It names users by their place: problems of a reload are also in the log and on
  /// `/healthz`.
  var problems: [KeyProblem] {
    let empty = IneffectiveEntries.empty(
      [
        ("allow_subjects", subjects), ("allow_emails", emails), ("allow_email_domains", emailDomains),
        ("allow_organizations", organizations),
      ], effect: "lets nobody in")
    let misplaced = IneffectiveEntries.misplaced(
      subjects: ("allow_subjects", subjects), emails: ("allow_emails", emails), domains: "allow_email_domains")
    let malformed = IneffectiveEntries.malformed(
      ("allow_emails", emails), remedy: "write \"name@example.com\", or use allow_email_domains")
    let impossible =
      IneffectiveEntries.impossible(("allow_subjects", subjects))
      + IneffectiveEntries.invisible(("allow_emails", emails)) { EmailAddress($0) != nil }
      + IneffectiveEntries.invisible(("allow_email_domains", emailDomains)) { EmailAddress.isDomain($0) }
    let domains = emailDomains.enumerated().compactMap(Self.problem(ofDomain:_:))
    return empty + misplaced + impossible + malformed + domains
  }

  private static func problem(ofDomain entry: Int, _ domain: String) -> KeyProblem? {
    if domain.isEmpty { return nil }
    if !EmailAddress.isDomain(domain) {
      return KeyProblem(
        "allow_email_domains", entry: entry, "\"\(domain)\" in allow_email_domains is not a domain",
        remedy: "write what follows the \"@\", without a pattern")
    }
    guard domain.utf8.lazy.map(\.asciiLowercased).elementsEqual(relayDomain.utf8) else { return nil }
    return KeyProblem(
      "allow_email_domains", entry: entry,
      "\"\(relayDomain)\" in allow_email_domains would admit everybody who hides the address",
      remedy: "remove it, and write private_email = \"require\" if just that is meant")
  }

  /// The domain of Apple's mail relay.
  static let relayDomain = "privaterelay.appleid.com"
}

extension DenyLists {
  /// Every problem of the lists.
  var problems: [KeyProblem] {
    let empty = IneffectiveEntries.empty(
      [("deny_subjects", subjects), ("deny_emails", emails)], effect: "refuses nobody")
    let misplaced = IneffectiveEntries.misplaced(
      subjects: ("deny_subjects", subjects), emails: ("deny_emails", emails), domains: "a group that deny_groups names")
    let malformed = IneffectiveEntries.malformed(("deny_emails", emails), remedy: "write \"name@example.com\"")
    let impossible =
      IneffectiveEntries.impossible(("deny_subjects", subjects))
      + IneffectiveEntries.invisible(("deny_emails", emails)) { EmailAddress($0) != nil }
    return empty + misplaced + impossible + malformed
  }
}
