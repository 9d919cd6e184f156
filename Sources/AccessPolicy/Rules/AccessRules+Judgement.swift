extension AccessRules {
  /// Whether any list names the user, and neither the address nor a claim is against it.
  ///
  /// Subjects and organizations are compared byte for byte; addresses and their domains without regard to ASCII case.
  /// Bytes from 0x80 are never folded and never normalised: a look-alike is another address.
  ///
  /// - Parameters:
  ///   - applicant: the user.
  ///   - requiresVerifiedEmail: whether an address counts only if Apple says that it is verified. Default: true.
  ///   - claim: what a claim of the user's says, by its name; asked only where there are requirements.
  public func judge(
    _ applicant: Applicant, requiresVerifiedEmail: Bool = true, claim: (String) -> [String] = { _ in [] }
  ) -> RuleVerdict {
    switch privateEmail {
    case .allow: break
    case .deny: if applicant.isPrivateEmail { return .denied(.emailHidden) }
    case .require: if !applicant.isPrivateEmail { return .denied(.emailShown) }
    }
    for requirement in requirements where !requirement.isMet(by: claim(requirement.claim)) {
      return .denied(.claimNotMet)
    }
    if !hasLists || subjects.contains(where: { $0.utf8.elementsEqual(applicant.subject.utf8) }) { return .allowed }
    if let organization = applicant.organization, !organization.isEmpty,
      organizations.contains(where: { $0.utf8.elementsEqual(organization.utf8) })
    {
      return .allowed
    }
    guard !emails.isEmpty || !emailDomains.isEmpty else { return .denied(.notListed) }
    guard let email = applicant.email, !email.isEmpty else { return .denied(.emailMissing) }
    guard names(email: email) else { return .denied(applicant.isPrivateEmail ? .emailHidden : .notListed) }
    return applicant.isEmailVerified || !requiresVerifiedEmail ? .allowed : .denied(.emailNotVerified)
  }

  private func names(email: String) -> Bool {
    if emails.contains(where: { Self.equalIgnoringCase($0.utf8, email.utf8) }) { return true }
    guard let at = email.utf8.lastIndex(of: UInt8(ascii: "@")), at > email.utf8.startIndex else { return false }
    let domain = email.utf8[email.utf8.index(after: at)...]
    return !domain.isEmpty && emailDomains.contains { Self.equalIgnoringCase($0.utf8, domain) }
  }

  private static func equalIgnoringCase(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Bool {
    a.lazy.map(PathByte.folded).elementsEqual(b.lazy.map(PathByte.folded))
  }

  /// What is wrong with the lists of a route, with the remedy.
  var complaint: String? {
    guard hasLists else { return nil }
    if subjects.isEmpty, emails.isEmpty, emailDomains.isEmpty, organizations.isEmpty {
      return "its lists are all empty, so that nobody could pass; name somebody, or write access = \"deny\""
    }
    if (subjects + emails + emailDomains + organizations).contains("") {
      return "an empty text in a list lets nobody in; remove it"
    }
    if let email = emails.first(where: { !$0.utf8.dropFirst().dropLast().contains(UInt8(ascii: "@")) }) {
      return "\"\(email)\" in allow_emails is no address; write \"name@example.com\", or use allow_email_domains"
    }
    if let domain = emailDomains.first(where: { $0.utf8.contains(UInt8(ascii: "@")) || $0.utf8.contains(0x2A) }) {
      return "\"\(domain)\" in allow_email_domains is no domain; write what follows the \"@\", without a pattern"
    }
    if emailDomains.contains(where: { Self.equalIgnoringCase($0.utf8, Self.relayDomain.utf8) }) {
      return "\"\(Self.relayDomain)\" in allow_email_domains would let in everybody who hides the address, whoever it "
        + "is; remove it, and write private_email = \"require\" if just that is meant"
    }
    return nil
  }

  /// The domain of Apple's mail relay.
  private static let relayDomain = "privaterelay.appleid.com"
}
