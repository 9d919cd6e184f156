import AccessPolicy

/// What holds for every route.
extension ConfigurationSchema {
  static let access = Section<ConfigurationBuilder>(
    name: "access",
    introduction: """
      Who may pass wherever no route says otherwise. Each setting of a request comes from the most specific route that \
      states it, and in the end from here. The lists and a route's access are one setting: a route that states any of \
      them decides alone. private_email and require_claims add up: routes add theirs, and lift none. Nothing here \
      concerns public routes. `cordon check --explain` tells who passes where, and by which line.
      """,
    entries: [
      .withDefault(
        "access.allow_subjects", subjects, into: \.access.subjects,
        """
        Apple's sub of those who may pass. A user whom any one of the lists names passes; without any list, everybody who \
        is signed in.
        """, seeAlso: ["route.allow_subjects"]),
      .withDefault(
        "access.allow_emails", emails, into: \.access.emails,
        "E-mail addresses of those who may pass, without regard to case.",
        seeAlso: ["identity.allow_unverified_email", "route.allow_emails"]),
      .withDefault(
        "access.allow_email_domains", emailDomains, into: \.access.emailDomains,
        "Domains of the addresses of those who may pass.", seeAlso: ["route.allow_email_domains"]),
      .withDefault(
        "access.allow_organizations", organizations, into: \.access.organizations,
        "The org_id of the Managed Apple Accounts of those who may pass.", seeAlso: ["route.allow_organizations"]),
      .withDefault(
        "access.private_email", .choice, into: \.access.privateEmail,
        """
        A condition on the address, beside the lists: "deny" refuses users who hide it behind Apple's relay, "require" \
        those who do not.
        """, seeAlso: ["route.private_email"]),
      .withDefault(
        "access.require_claims", ValueType.claimRequirement.list().named("list of claim=value"),
        into: \.access.requirements, "What claims of Apple's have to say, beside the lists.",
        seeAlso: ["route.require_claims"]),
      .withDefault(
        "access.unauthenticated", .choice, into: \.access.unauthenticated,
        """
        What a request without a session gets: "401", or "auto", which sends a browser's navigation to sign in and \
        answers anything else with 401.
        """, seeAlso: ["route.unauthenticated"]),
    ])

  static let subjects = ValueType.words(
    "identifier", expected: "a subject, as in \"001234.0123456789abcdef0123456789abcdef.0123\""
  ).list()
  static let emails = ValueType.words("address", limit: 320, expected: "an e-mail address").list()
  static let emailDomains = ValueType.words("domain", expected: "a domain, as in \"example.com\"").list()
  static let organizations = ValueType.words("identifier", expected: "an org_id").list()
}
