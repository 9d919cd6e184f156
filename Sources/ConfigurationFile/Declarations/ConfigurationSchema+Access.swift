import AccessPolicy

/// The defaults of all routes.
extension ConfigurationSchema {
  static let access = Section<ConfigurationBuilder>(
    name: "access",
    introduction: """
      Default access rules. Each setting of a request comes from the most specific route that states it, finally from \
      here. The lists and a route's access are one setting: a route that states any of them replaces all of them. \
      private_email and require_claims are cumulative: routes can add conditions, but not remove any. Public routes \
      are not affected. `cordon check --explain` shows who is admitted where, and by which line.
      """,
    entries: [
      .withDefault(
        "access.allow_subjects", subjects, into: \.access.subjects,
        """
        Admitted users by Apple's sub. A user in any of the lists is admitted; without any list, every signed-in user \
        is.
        """, seeAlso: ["route.allow_subjects"]),
      .withDefault(
        "access.allow_emails", emails, into: \.access.emails,
        "Admitted users by e-mail address, case-insensitive.",
        seeAlso: ["identity.allow_unverified_email", "route.allow_emails"]),
      .withDefault(
        "access.allow_email_domains", emailDomains, into: \.access.emailDomains,
        "Admitted users by the domain of their e-mail address.", seeAlso: ["route.allow_email_domains"]),
      .withDefault(
        "access.allow_organizations", organizations, into: \.access.organizations,
        "Admitted users by the org_id of their Managed Apple Account.", seeAlso: ["route.allow_organizations"]),
      .withDefault(
        "access.private_email", .choice, into: \.access.privateEmail,
        """
        A condition in addition to the lists: "deny" refuses users who hide their address behind Apple's relay, \
        "require" refuses all others.
        """, seeAlso: ["route.private_email"]),
      .withDefault(
        "access.require_claims", ValueType.claimRequirement.list().named("list of claim=value"),
        into: \.access.requirements, "Required values of Apple's claims, in addition to the lists.",
        seeAlso: ["route.require_claims"]),
      .withDefault(
        "access.unauthenticated", .choice, into: \.access.unauthenticated,
        """
        The response to a request without a session: "401", or "auto", which redirects browser navigations to sign-in \
        and answers everything else with 401.
        """, seeAlso: ["route.unauthenticated"]),
    ])

  static let subjects = ValueType.words(
    "identifier", expected: "a subject, as in \"001234.0123456789abcdef0123456789abcdef.0123\""
  ).list()
  static let emails = ValueType.words("address", limit: 320, expected: "an e-mail address").list()
  static let emailDomains = ValueType.words("domain", expected: "a domain, as in \"example.com\"").list()
  static let organizations = ValueType.words("identifier", expected: "an org_id").list()
}
