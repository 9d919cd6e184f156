import AccessPolicy

/// The table of each route.
extension ConfigurationSchema {
  static let route = Section<RouteBuilder>(
    name: "route",
    introduction: """
      Settings by path. Each [[route]] applies to the paths below its path. Each setting of a request comes from the \
      most specific route that states it (exact before prefix, longer before shorter), finally from [access]: a route \
      changes only what it states. An ambiguous path never gets a less strict rule: if another reading matches another \
      route, both must admit the request.
      """,
    entries: [
      .required(
        "route.path", .words("path", limit: 2_048, expected: "a path, as in \"/public/\""), into: \.path,
        example: "\"/public/\"",
        """
        The path prefix. A prefix that ends with "/" matches paths below it; one that does not also matches the path \
        itself. It is compared percent-encoded and case-sensitively. A request that acts on a folder (DELETE, COPY, \
        PROPFIND) must be admitted by the routes below the folder, too.
        """, seeAlso: ["route.match"]),
      .optional(
        "route.host", .routeHost, into: \.host, example: "\"wiki.example.com\"",
        """
        The host that the route is for: the name of a [[host]], or "*" for every host. The routes of a [[host]] take \
        precedence there over those of "*", but cannot admit anybody where the latter have access = "deny".
        """, omission: "The host of public_url and listen.hosts.", seeAlso: ["host.name"]),
      .withDefault(
        "route.match", .choice, into: \.match,
        """
        "prefix": the route matches paths below its path, too. "exact": it matches only the path, and takes precedence \
        over prefixes; of a name with an extension ("/login.php") it also restricts what follows the name \
        ("/login.php/x").
        """, seeAlso: ["route.path"]),
      .optional(
        "route.methods", ValueType.method.list(), into: \.methods, example: "[\"GET\", \"POST\"]",
        """
        The methods that the route applies to, case-sensitive; "GET" includes "HEAD". Such a route takes precedence \
        over one of the same path without methods; of nested method sets the smaller is more specific: "GET" \
        precedes "GET" and "POST". For all methods, X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override are \
        removed from requests below its path; a field "_method" in a form is not seen.
        """, omission: "All methods; an empty list is an error.", seeAlso: ["route.path"]),
      .optional(
        "route.access", .choice, into: \.access, example: "\"public\"",
        """
        "public": everybody; the identity is still forwarded if there is a session. "signed-in": everybody with a \
        session. "deny": nobody. "sign-out": the application's own address for signing out, which the gateway answers \
        in its place: a POST from its own origin ends the session as POST path_prefix + "/sign-out" does, a navigation \
        asks first. networks and deny lists do not apply there. Together with one of the lists below, each is an error.
        """,
        omission: "The users in the lists below, if there are any; otherwise inherited, finally from [access].",
        seeAlso: ["access.allow_subjects"]),
      .optional(
        "route.unauthenticated", .choice, into: \.unauthenticated, example: "\"401\"",
        """
        The response to a request without a session: "401", or "auto", which redirects browser navigations to sign-in \
        and answers everything else with 401.
        """, omission: "Inherited.", seeAlso: ["access.unauthenticated"]),
      .optional(
        "route.upstream", .label, into: \.upstream, example: "\"reports\"",
        "The name of the application that serves these paths: one of [[upstreams]], or \"default\" for [upstream].",
        omission: "Inherited, then host.upstream, finally [upstream].", seeAlso: ["upstreams.name"]),
      .optional(
        "route.body_rate", .integer(0...1_000_000_000), into: \.bodyRate, example: "0",
        """
        Minimum rate of a request body, as for listen.limits.body_rate. 0 disables the limit, for streaming uploads \
        with pauses.
        """, unit: "bytes per second",
        omission: "Inherited, finally listen.limits.body_rate, or no limit if the upstream's protocol is \"h2\".",
        seeAlso: ["listen.limits.body_rate"]),
      .optional(
        "route.keep_forms", .size(0...1_048_576), into: \.keptFormBytes, example: "\"64KiB\"",
        """
        Maximum size of a form that is kept while its user signs in. A form that is submitted without a session, or \
        with a sign-in that is too old for max_age, is answered with a page; with this setting, the page holds its \
        fields, and sends them after the sign-in, by a button, once, and with the account that used the browser before, \
        if that is known. The fields are in this page only, never in the store or a log. Kept are forms without files, \
        from pages of the same origin. It needs JavaScript.
        """, omission: "Inherited, finally \"0\": no form is kept.",
        seeAlso: ["route.unauthenticated", "route.max_age"]),
      .optional(
        "route.allow_subjects", subjects, into: \.lists.subjects,
        example: "[\"001234.0123456789abcdef0123456789abcdef.0123\"]",
        """
        Admitted users by Apple's sub. A user in any of the lists is admitted; the lists of less specific routes are \
        ignored then.
        """, omission: "No such list; an empty one is an error.", seeAlso: ["access.allow_subjects"]),
      .optional(
        "route.allow_emails", emails, into: \.lists.emails, example: "[\"ada@example.com\"]",
        """
        Admitted users by e-mail address. ASCII letters are case-insensitive, all other characters match exactly. \
        Apple's claim must be exactly one address with an unquoted local part. Apple verifies an address only when it \
        is added to the Apple Account: a user who lost the mailbox is still admitted.
        """, omission: "No such list; an empty one is an error.",
        seeAlso: ["identity.allow_unverified_email"]),
      .optional(
        "route.allow_email_domains", emailDomains, into: \.lists.emailDomains, example: "[\"example.com\"]",
        """
        Admitted users by the domain of their e-mail address. Apple verifies an address only when it is added to the \
        Apple Account: a user who left the organization is still admitted.
        """, omission: "No such list; an empty one is an error.",
        seeAlso: ["identity.allow_unverified_email"]),
      .optional(
        "route.allow_organizations", organizations, into: \.lists.organizations, example: "[\"1234567\"]",
        "Admitted users by the org_id of their Managed Apple Account.",
        omission: "No such list; an empty one is an error."),
      .optional(
        "route.allow_groups", groups, into: \.lists.groups, example: "[\"staff\"]",
        "Admitted users by group. Each must be declared as a [[group]].",
        omission: "No such list; an empty one is an error.", seeAlso: ["group.name", "access.allow_groups"]),
      .withDefault(
        "route.deny_groups", groups, into: \.denied.groups,
        """
        Groups whose members are refused, whatever list names them, in addition to the deny lists of [access] and of \
        less specific routes.
        """, seeAlso: ["access.deny_groups"]),
      .withDefault(
        "route.deny_subjects", subjects, into: \.denied.subjects,
        "Refused users by Apple's sub, as for deny_groups.", seeAlso: ["access.deny_subjects"]),
      .withDefault(
        "route.deny_emails", emails, into: \.denied.emails,
        "Refused users by e-mail address, verified or not, as for deny_groups.", seeAlso: ["access.deny_emails"]),
      .optional(
        "route.networks", ValueType.network.list(), into: \.networks, example: "[\"10.0.0.0/8\"]",
        """
        Networks of clients, in addition to signing in: a request from elsewhere gets 403. The address must be in \
        networks of [access] and of less specific routes, too. Also on public routes, where those of [access] do not \
        apply.
        """, omission: "No condition here; an empty list is an error.",
        seeAlso: ["access.networks", "listen.trusted_proxies"]),
      .optional(
        "route.max_age", .age, into: \.maxAge, example: "\"12h\"",
        "Maximum age of the sign-in, as for access.max_age. \"0s\" removes an inherited limit.",
        omission: "Inherited, finally access.max_age.", seeAlso: ["access.max_age"]),
      .optional(
        "route.tokens", .boolean, into: \.tokens, example: "true",
        "Whether machine tokens are accepted, as for access.tokens. The route must have allow_groups, or inherit them.",
        omission: "Inherited, finally access.tokens.", seeAlso: ["access.tokens", "route.allow_groups"]),
      .optional(
        "route.preflight", .choice, into: \.preflight, example: "\"pass\"",
        """
        Whether CORS preflights (OPTIONS with Origin and Access-Control-Request-Method, without a body) reach the \
        application: "pass", without an identity and without method-override headers; or "block": they are treated as \
        other requests. Browsers send them without cookies. networks apply. It has no effect through verify.
        """, omission: "Inherited, finally \"block\".", seeAlso: ["route.methods", "route.networks"]),
      .optional(
        "route.private_email", .choice, into: \.privateEmail, example: "\"deny\"",
        """
        A condition in addition to the lists: "deny" refuses users who hide their address behind Apple's relay (with a \
        page that explains how to share it), "require" refuses all others. "allow" adds no condition and removes none.
        """, omission: "No condition here.", seeAlso: ["route.allow_email_domains"]),
      .optional(
        "route.require_claims", ValueType.claimRequirement.list().named("list of claim=value"), into: \.requirements,
        example: "[\"real_user_status=2\", \"scopes=edu.users.read\"]",
        """
        Required values of Apple's claims, in addition to the lists: each named claim must have one of its listed \
        values; of a claim with several values (scopes), one must match. Only native apps provide real_user_status; \
        flags are true or false.
        """, omission: "No condition here.", seeAlso: ["identity.headers"]),
    ])
}
