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

  /// Whether membership in a group could admit a user whom the rules deny: `allow_groups` names one, and neither a deny
  /// list nor a condition denies.
  func couldBeLifted(_ reason: DenialReason) -> Bool {
    guard let lists, !lists.groups.isEmpty else { return false }
    return switch reason {
    case .notListed, .emailNotVerified, .emailMissing: true
    case .emailHidden: privateEmail != .deny
    case .denyListed, .claimNotMet, .emailShown: false
    }
  }

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
  ) -> AccessDecision {
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
  package func evaluateToken(in group: Int) -> AccessDecision {
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

  /// Whether a list names the user. The address counts whether Apple has verified it or not, and so does the subject
  /// that the user had with another team.
  func names(_ user: Principal) -> Bool {
    if groups.intersects(user.membership.deniable) { return true }
    if !subjects.isEmpty {
      if subjects.contains(Array(user.subject.utf8)) { return true }
      if let former = user.formerSubject, subjects.contains(Array(former.utf8)) { return true }
    }
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
