internal import WebFormats

/// The lists and conditions that hold for a request together, compiled into sets.
package struct AccessRules: Sendable, Hashable {
  /// Nil if everybody is admitted.
  private let lists: CompiledLists?
  /// The deny lists, each shared by all rules that it is part of.
  private let denied: [CompiledDenials]
  private let privateEmail: AccessConditions.PrivateEmail
  private let requirements: [CompiledRequirement]

  /// - Parameters:
  ///   - conditions: all that hold, from the most to the least specific place that states some.
  ///   - groups: the names of all groups, in any order.
  package init(lists: AccessLists?, conditions: [AccessConditions] = [], groups: [String] = []) {
    let numbers = GroupNumbers(groups)
    var denied: [CompiledDenials] = []
    for lists in conditions.map(\.denied) where !lists.isEmpty {
      let compiled = CompiledDenials(lists, numbers)
      if !denied.contains(compiled) { denied.append(compiled) }
    }
    self.init(compiled: lists.map { CompiledLists($0, numbers) }, denied: denied, conditions: conditions)
  }

  /// - Parameter denied: the deny lists of the conditions, without repetition.
  init(compiled lists: CompiledLists?, denied: [CompiledDenials], conditions: [AccessConditions]) {
    self.lists = lists
    self.denied = denied
    privateEmail = conditions.map(\.privateEmail).last { $0 != .allow } ?? .allow
    var requirements: [CompiledRequirement] = []
    for requirement in conditions.flatMap(\.requirements).map(CompiledRequirement.init)
    where !requirements.contains(requirement) {
      requirements.append(requirement)
    }
    self.requirements = requirements
  }

  /// Whether users who hide the address are refused, whatever list names them.
  package var refusesPrivateEmail: Bool { privateEmail == .deny }

  /// Whether `allow_groups` names a group, so that its members are admitted.
  package var namesGroups: Bool { lists.map { !$0.groups.isEmpty } ?? false }

  /// Evaluates the rules for a user: a list must name the user, no deny list may, and address and claims must meet the
  /// conditions.
  ///
  /// Subjects and organizations are compared byte for byte; addresses and their domains without regard to ASCII case.
  /// Bytes from 0x80 are never folded and never normalized: a confusable character makes another address. A text that
  /// is not exactly one address is named by no list.
  ///
  /// - Parameters:
  ///   - requiresVerifiedEmail: whether an address counts only if Apple says that it is verified. Default: true.
  ///   - claim: the values of a claim of the user, by its name; called only if there are requirements.
  package func evaluate(
    _ user: Principal, requiresVerifiedEmail: Bool = true, claim: (String) -> [String] = { _ in [] }
  ) -> RuleVerdict {
    if denied.contains(where: { $0.names(user) }) { return .denied(.denyListed) }
    switch privateEmail {
    case .allow: break
    case .deny: if user.isPrivateEmail { return .denied(.emailHidden) }
    case .require: if !user.isPrivateEmail { return .denied(.emailShown) }
    }
    for requirement in requirements where !requirement.isMet(by: claim(requirement.claim)) {
      return .denied(.claimNotMet)
    }
    guard let lists else { return .allowed }
    if lists.subjects.contains(Array(user.subject.utf8)) { return .allowed }
    if let organization = user.organization, !organization.isEmpty,
      lists.organizations.contains(Array(organization.utf8))
    {
      return .allowed
    }
    if lists.groups.intersects(user.membership.groups) { return .allowed }
    guard !lists.emails.isEmpty || !lists.emailDomains.isEmpty else { return .denied(.notListed) }
    guard let email = user.email, !email.isEmpty else { return .denied(.emailMissing) }
    guard lists.names(email: email) else { return .denied(user.isPrivateEmail ? .emailHidden : .notListed) }
    return user.isEmailVerified || !requiresVerifiedEmail ? .allowed : .denied(.emailNotVerified)
  }

  /// Whether a machine token of a group is admitted: by `allow_groups` only. A token has no claims and no address, so
  /// that it meets no requirement.
  /// - Parameter group: the number of the token's group in the `GroupDirectory`.
  package func evaluateToken(in group: Int) -> RuleVerdict {
    if denied.contains(where: { $0.groups.contains(group) }) { return .denied(.denyListed) }
    if privateEmail == .require { return .denied(.emailShown) }
    if !requirements.isEmpty { return .denied(.claimNotMet) }
    return lists?.groups.contains(group) == true ? .allowed : .denied(.notListed)
  }
}

/// Deny lists as sets of bytes.
struct CompiledDenials: Sendable, Hashable {
  private let subjects: SortedByteStrings
  /// In lower case.
  private let emails: SortedByteStrings
  let groups: GroupSet

  init(_ lists: DenyLists, _ groups: GroupNumbers) {
    subjects = SortedByteStrings(lists.subjects.lazy.map(\.utf8))
    emails = SortedByteStrings(lists.emails.lazy.map { $0.utf8.lazy.map(\.asciiLowercased) })
    self.groups = groups.set(of: lists.groups)
  }

  /// Whether a list names the user. The address counts whether Apple has verified it or not.
  func names(_ user: Principal) -> Bool {
    if groups.intersects(user.membership.deniable) { return true }
    if !subjects.isEmpty, subjects.contains(Array(user.subject.utf8)) { return true }
    guard !emails.isEmpty, let email = user.email else { return false }
    return emails.contains(email.utf8.map(\.asciiLowercased))
  }
}

/// Lists as sets of bytes: equality of `String` is not that of bytes.
struct CompiledLists: Sendable, Hashable {
  let subjects: SortedByteStrings
  /// In lower case.
  let emails: SortedByteStrings
  /// In lower case.
  let emailDomains: SortedByteStrings
  let organizations: SortedByteStrings
  let groups: GroupSet

  init(_ lists: AccessLists, _ groups: GroupNumbers) {
    self.groups = groups.set(of: lists.groups)
    subjects = SortedByteStrings(lists.subjects.lazy.map(\.utf8))
    emails = SortedByteStrings(lists.emails.lazy.map { $0.utf8.lazy.map(\.asciiLowercased) })
    emailDomains = SortedByteStrings(lists.emailDomains.lazy.map { $0.utf8.lazy.map(\.asciiLowercased) })
    organizations = SortedByteStrings(lists.organizations.lazy.map(\.utf8))
  }

  func names(email: String) -> Bool {
    guard let address = EmailAddress(email) else { return false }
    return emails.contains(address.folded) || emailDomains.contains(Array(address.folded[address.domain]))
  }
}

/// A requirement with its values in a set.
struct CompiledRequirement: Sendable, Hashable {
  let claim: String
  private let name: [UInt8]
  private let values: Set<[UInt8]>

  init(_ requirement: ClaimRequirement) {
    claim = requirement.claim
    name = Array(requirement.claim.utf8)
    values = Set(requirement.values.map { Array($0.utf8) })
  }

  /// Whether one of the values of the claim is permitted.
  func isMet(by said: [String]) -> Bool { said.contains { values.contains(Array($0.utf8)) } }

  static func == (a: CompiledRequirement, b: CompiledRequirement) -> Bool { a.name == b.name && a.values == b.values }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(values)
  }
}

extension AccessLists {
  /// Every problem of the lists. Users are told by their place: problems of a reload are also in the log and on
  /// `/healthz`.
  var problems: [KeyProblem] {
    let empty = [
      ("allow_subjects", subjects), ("allow_emails", emails), ("allow_email_domains", emailDomains),
      ("allow_organizations", organizations),
    ].filter { $0.1.contains("") }.map { key, _ in
      KeyProblem(key, "an empty text in a list lets nobody in", remedy: "remove it")
    }
    let misplaced = IneffectiveEntries.misplaced(
      subjects: ("allow_subjects", subjects), emails: ("allow_emails", emails), domains: "allow_email_domains")
    let malformed = IneffectiveEntries.malformed(emails).map { index in
      KeyProblem(
        "allow_emails", entry: index, "entry \(index + 1) of allow_emails is not an address",
        remedy: "write \"name@example.com\", or use allow_email_domains")
    }
    let impossible = IneffectiveEntries.impossible(("allow_subjects", subjects))
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
    let empty = [("deny_subjects", subjects), ("deny_emails", emails)].filter { $0.1.contains("") }.map { key, _ in
      KeyProblem(key, "an empty text in a list refuses nobody", remedy: "remove it")
    }
    let misplaced = IneffectiveEntries.misplaced(
      subjects: ("deny_subjects", subjects), emails: ("deny_emails", emails), domains: "a group that deny_groups names")
    let malformed = IneffectiveEntries.malformed(emails).map { index in
      KeyProblem(
        "deny_emails", entry: index, "entry \(index + 1) of deny_emails is not an address",
        remedy: "write \"name@example.com\"")
    }
    return empty + misplaced + IneffectiveEntries.impossible(("deny_subjects", subjects)) + malformed
  }
}

/// Entries of lists that match nobody, so that a deny list with one would refuse nobody.
private enum IneffectiveEntries {
  /// The problems of entries that are valid, but not in this list.
  /// - Parameters:
  ///   - subjects: the list of subjects, with its key.
  ///   - emails: the list of addresses, with its key.
  ///   - domains: where a domain belongs.
  static func misplaced(
    subjects: (key: String, texts: [String]), emails: (key: String, texts: [String]), domains: String
  ) -> [KeyProblem] {
    let addresses = subjects.texts.indices.filter { subjects.texts[$0].utf8.contains(UInt8(ascii: "@")) }.map { index in
      KeyProblem(
        subjects.key, entry: index, "entry \(index + 1) of \(subjects.key) is an address, which no subject is",
        remedy: "write it in \(emails.key), or its domain in \(domains)")
    }
    let patterns = emails.texts.indices.filter { isPattern(emails.texts[$0]) }.map { index in
      KeyProblem(
        emails.key, entry: index, "entry \(index + 1) of \(emails.key) has a \"*\", but addresses are not patterns",
        remedy: "write the domain in \(domains)")
    }
    return addresses + patterns
  }

  /// The problems of entries that no identity token has as its subject, because a token with such a subject is refused.
  /// Empty ones and addresses are reported separately.
  static func impossible(_ subjects: (key: String, texts: [String])) -> [KeyProblem] {
    subjects.texts.indices.compactMap { index in
      let text = subjects.texts[index]
      guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "@")), !GroupMember.isSubject(text) else { return nil }
      let flaw =
        text.utf8.contains(0x20)
        ? "a space" : text.utf8.count > 255 ? "more than 255 bytes" : "a character that is not printable ASCII"
      return KeyProblem(
        subjects.key, entry: index, "entry \(index + 1) of \(subjects.key) has \(flaw), which no subject has",
        remedy: "write the subject as `cordon accounts list` shows it")
    }
  }

  /// The places of the entries that are neither addresses nor patterns. Empty ones are reported separately.
  static func malformed(_ emails: [String]) -> [Int] {
    emails.indices.filter { !emails[$0].isEmpty && !isPattern(emails[$0]) && EmailAddress(emails[$0]) == nil }
  }

  private static func isPattern(_ email: String) -> Bool { email.utf8.contains(UInt8(ascii: "*")) }
}
