import AccessPolicy

/// The defaults of all routes.
extension ConfigurationSchema {
  static let access = Section<ConfigurationBuilder>(
    name: "access",
    introduction: """
      Default access rules. Each setting of a request comes from the most specific route that states it, finally from \
      here. The lists and a route's access are one setting: a route that states any of them replaces all of them. \
      The deny lists, private_email, require_claims and networks are cumulative: routes can add conditions, but not \
      remove any. On public routes, users whom a deny list refuses count as signed out, and only the networks of \
      routes are conditions. `cordon check --explain` shows who is admitted where, and by which line.
      """,
    entries: [
      .optional(
        "access.allow_subjects", subjects, into: \.access.lists.subjects,
        example: "[\"001234.0123456789abcdef0123456789abcdef.0123\"]",
        """
        Admitted users by Apple's sub. A user in any of the lists is admitted; without any list, every signed-in user \
        is.
        """, omission: "No such list; an empty one is an error.", seeAlso: ["route.allow_subjects"]),
      .optional(
        "access.allow_emails", emails, into: \.access.lists.emails, example: "[\"ada@example.com\"]",
        "Admitted users by e-mail address. ASCII letters are case-insensitive, all other characters match exactly.",
        omission: "No such list; an empty one is an error.",
        seeAlso: ["identity.allow_unverified_email", "route.allow_emails"]),
      .optional(
        "access.allow_email_domains", emailDomains, into: \.access.lists.emailDomains, example: "[\"example.com\"]",
        "Admitted users by the domain of their e-mail address.", omission: "No such list; an empty one is an error.",
        seeAlso: ["route.allow_email_domains"]),
      .optional(
        "access.allow_organizations", organizations, into: \.access.lists.organizations, example: "[\"1234567\"]",
        "Admitted users by the org_id of their Managed Apple Account.",
        omission: "No such list; an empty one is an error.", seeAlso: ["route.allow_organizations"]),
      .optional(
        "access.allow_groups", groups, into: \.access.lists.groups, example: "[\"staff\"]",
        "Admitted users by group. Each must be declared as a [[group]].",
        omission: "No such list; an empty one is an error.", seeAlso: ["group.name", "route.allow_groups"]),
      .withDefault(
        "access.deny_groups", groups, into: \.access.denied.groups,
        """
        Groups whose members are refused, whatever list names them, on every route that is not public. On public \
        routes they are treated as signed out. An e-mail address of a member counts even if Apple has not verified it.
        """, seeAlso: ["access.deny_subjects", "access.deny_emails", "route.deny_groups"]),
      .withDefault(
        "access.deny_subjects", subjects, into: \.access.denied.subjects,
        "Refused users by Apple's sub, compared byte for byte, as for deny_groups.",
        seeAlso: ["access.deny_groups", "route.deny_subjects"]),
      .withDefault(
        "access.deny_emails", emails, into: \.access.denied.emails,
        """
        Refused users by e-mail address, verified or not, as for deny_groups. ASCII letters are case-insensitive, all \
        other characters match exactly. A user who hides the address has another one: `cordon accounts ban` refuses \
        the account.
        """, seeAlso: ["access.deny_groups", "route.deny_emails"]),
      .optional(
        "access.networks", ValueType.network.list(), into: \.access.networks, example: "[\"10.0.0.0/8\"]",
        """
        Networks of clients. A request from elsewhere gets 403 before any sign-in, on every route that is not public. \
        The gateway's own pages are not routes: sign-in, account and people pages answer from any address. \
        Behind a proxy, listen.trusted_proxies or listen.proxy_protocol_from must name it: without a believed address \
        the condition is not met.
        """, omission: "Any client address; an empty list is an error.",
        seeAlso: ["listen.trusted_proxies", "listen.proxy_protocol_from", "route.networks"]),
      .withDefault(
        "access.max_age", .age, into: \.access.maxAge,
        """
        Maximum age of the sign-in. After it a browser navigation is redirected to Apple again, and anything else gets \
        401 with {"error":"reauthentication_required"}. At least 1m; "0s" means no limit.
        """, seeAlso: ["session.lifetime", "route.max_age"]),
      .withDefault(
        "access.tokens", .boolean, into: \.access.tokens,
        """
        Whether machine tokens (`cordon tokens create`) are accepted: as bearer token, or as password of HTTP Basic \
        with the user "token". A token is admitted by allow_groups only.
        """, seeAlso: ["access.allow_groups", "route.tokens"]),
      .withDefault(
        "access.requests", .boolean, into: \.access.requests,
        """
        Whether a signed-in user who is refused may ask for access: the page shows a code and a button, and an \
        operator admits the user to a group with `cordon requests admit`, or a manager on the people page.
        """, seeAlso: ["access.managers", "group.name"]),
      .withDefault(
        "access.managers", groups, into: \.access.managers,
        """
        Groups whose members may use the people page, public_url + path_prefix + "/people", which manages requests, \
        group members, sessions, bans and invitations. Members of these groups can be managed on the command line only.
        """, seeAlso: ["access.requests", "group.name"]),
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

  static let group = Section<GroupBuilder>(
    name: "group",
    introduction: """
      Groups of users, for allow_groups and deny_groups, and in the claim "groups". Members are listed here, in a \
      file, or are added at run time: with `cordon groups add`, by an invitation, or when a request is admitted.
      """,
    entries: [
      .required(
        "group.name", .groupName, into: \.name, example: "\"staff\"",
        "The name: 1 to 64 letters, digits, \"-\", \"_\" and \".\", case-sensitive.",
        seeAlso: ["access.allow_groups", "route.allow_groups"]),
      .withDefault(
        "group.members", ValueType.member.list(), into: \.members,
        """
        Members by Apple's sub ("001234.abc.5678"), by verified e-mail address ("ada@example.com"), or by the domain \
        of the verified address ("@example.com"). ASCII letters of addresses are case-insensitive.
        """, seeAlso: ["group.members_file", "identity.allow_unverified_email"]),
      .optional(
        "group.members_file", .file, into: \.membersFile, example: "\"staff.txt\"",
        """
        A file with more members, one on each line. "#" at the start of a line or after white space begins a comment. \
        A change takes effect within five seconds, once the file has stayed the same for two of them; a file that is \
        empty, unreadable or wrong is reported, and the members before it stay. Write a new list beside the file and \
        rename it, so that no part of a list is ever read.
        """, omission: "No other members than those listed and those added at run time.", seeAlso: ["group.members"]),
    ])

  static let groups = ValueType.groupName.list()
  static let subjects = ValueType.words(
    "identifier", expected: "a subject, as in \"001234.0123456789abcdef0123456789abcdef.0123\""
  ).list()
  static let emails = ValueType.words(
    "address", limit: 320, expected: "an e-mail address", isConfidential: true
  ).list()
  static let emailDomains = ValueType.words("domain", expected: "a domain, as in \"example.com\"").list()
  static let organizations = ValueType.words("identifier", expected: "an org_id").list()
}
