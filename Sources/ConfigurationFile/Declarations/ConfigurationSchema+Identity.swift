import AccessPolicy
import AppleIdentity
import Operations
import Pages
import Sessions

/// The tables about Apple, sessions and access.
extension ConfigurationSchema {
  static let apple = Section<ConfigurationBuilder>(
    name: "apple",
    introduction: """
      The registration with Apple (Certificates, Identifiers & Profiles in the developer account): a Services ID with \
      this gateway's callback as return URL, and a key with Sign in with Apple enabled.
      """,
    entries: [
      .required(
        "apple.client_id", .words("identifier", expected: "a Services ID, as in \"com.example.web\""),
        into: \.configuration.apple.clientID, example: "\"com.example.web\"",
        "The Services ID, case-sensitive, without the Team ID."),
      .required(
        "apple.team_id", .words("identifier", expected: "a Team ID, as in \"DEF123GHIJ\""),
        into: \.configuration.apple.teamID, example: "\"DEF123GHIJ\"",
        "The Team ID: ten letters and digits, at Membership details."),
      .required(
        "apple.key_id", .words("identifier", expected: "a Key ID, as in \"ABC123DEFG\""),
        into: \.configuration.apple.keyID, example: "\"ABC123DEFG\"",
        "The Key ID: ten letters and digits, part of the key file's name.", seeAlso: ["apple.private_key_file"]),
      .required(
        "apple.private_key_file", .file, into: \.configuration.apple.privateKeyFile,
        example: "\"AuthKey_ABC123DEFG.p8\"",
        """
        The private key, which Apple lets you download once. Others must not be able to read the file. It signs client \
        secrets with a lifetime of minutes; no manual renewal is needed.
        """, seeAlso: ["apple.key_id"]),
      .withDefault(
        "apple.scopes", ValueType<AppleSettings.Scope>.choice.list(), into: \.configuration.apple.scopes,
        """
        The requested data. Users can hide the address (Apple then forwards mail) and change the name; Apple sends the \
        name only at the first sign-in, and the gateway stores it. "edu.classes.read" and "edu.users.read" are for \
        Apple School Manager.
        """),
      .withDefault(
        "apple.response_mode", .choice, into: \.configuration.apple.responseMode,
        "How Apple returns its response. With any scope it must be \"form_post\".",
        seeAlso: ["apple.scopes", "apple.response_type"]),
      .withDefault(
        "apple.response_type", .choice, into: \.configuration.apple.responseType,
        "The content of Apple's response: an authorization code, optionally with an identity token.",
        seeAlso: ["apple.response_mode"]),
      .withDefault(
        "apple.native_client_ids",
        ValueType.words("identifier", expected: "an App ID, as in \"com.example.app\"").list(),
        into: \.configuration.apple.nativeClientIDs,
        "App IDs of native apps of the same team that may exchange Apple's tokens for a session.",
        seeAlso: ["native.return_schemes"]),
      .withDefault(
        "apple.base_url", .appleOrigin("https://appleid.apple.com"),
        into: \.configuration.apple.baseURL,
        """
        Apple's origin. Other addresses are for tests only, http: on loopback only; the issuer in tokens must always \
        be Apple's.
        """),
      .optional(
        "apple.tls_ca_file", .file, into: \.configuration.apple.authorityFile, example: "\"tls/egress-ca.pem\"",
        """
        CA certificates, in PEM, that replace the system's for connections to Apple: for networks that intercept \
        outgoing TLS.
        """, omission: "The system's CAs (the package ca-certificates) are trusted."),
      .optional(
        "apple.proxy", .proxyURL, into: \.configuration.apple.proxy, example: "\"http://proxy:3128\"",
        """
        An HTTP proxy for requests to Apple. It gets CONNECT with host and port; TLS is verified end to end. With \
        "http://user:${PROXY_PASSWORD}@proxy:3128" it gets Proxy-Authorization (Basic), with a password from the \
        environment.
        """, omission: "Apple is reached directly; http_proxy and https_proxy of the environment are not read.",
        seeAlso: ["apple.tls_ca_file"]),
    ])

  static let session = Section<ConfigurationBuilder>(
    name: "session", introduction: "Secrets, lifetime and cache of sessions.",
    entries: [
      .required(
        "session.secret_files", ValueType.file.list(), into: \.configuration.session.secretFiles,
        example: "[\"session.key\"]",
        """
        Files with secrets, each of at least 32 bytes; others must not be able to read them. The first signs cookies \
        and encrypts refresh tokens, all are accepted: to rotate the secret, put the new one first, run `cordon store \
        reseal`, and remove the old one later. `cordon keygen --output FILE` creates one.
        """),
      .withDefault(
        "session.lifetime", .duration(.seconds(1)...(.seconds(400 * 86_400))), into: \.configuration.session.lifetime,
        "Time from sign-in to the end of the session, regardless of activity.",
        seeAlso: ["session.idle_timeout"]),
      .withDefault(
        "session.idle_timeout", .duration(.seconds(1)...(.seconds(400 * 86_400))),
        into: \.configuration.session.idleTimeout, "Time without activity after which a session ends.",
        seeAlso: ["session.lifetime"]),
      .withDefault(
        "session.cookie_name", .cookieNames, into: \.configuration.session.cookies,
        """
        The name of the session cookie; those of the gateway's other cookies begin with it. It begins with "__Host-". \
        Choose another one where two gateways share a host name on different ports, for instance "__Host-cordon-2": \
        browsers do not tell ports apart. A gateway keeps its own cookies from applications, and every cookie named \
        "__Host-cordon" or "__Host-cordon-…". Another name signs everybody out. It cannot change while the gateway runs.
        """),
      .withDefault(
        "session.clear_site_data", ValueType<SiteData>.choice.named("kind of data").list(),
        into: \.configuration.session.clearedData,
        """
        What browsers delete (Clear-Site-Data) at sign-out, when a banned user signs in, and when another account signs \
        in: "cache", "storage". [] deletes nothing.
        """, seeAlso: ["upstream.end_cookies"]),
      .withDefault(
        "session.memory", .size(1_048_576...SizeText.limit), into: \.configuration.session.memory,
        """
        Memory of the session cache, about 2 KiB for each session, divided among the event loops. Other sessions are \
        read from the store again, with one indexed read.
        """),
    ])

  static let revalidation = Section<ConfigurationBuilder>(
    name: "revalidation",
    introduction:
      "Daily verification of each active user's refresh token with Apple.",
    entries: [
      .withDefault(
        "revalidation.interval", .duration(.seconds(1)...(.seconds(365 * 86_400))),
        into: \.configuration.revalidation.interval,
        "Time between two verifications of an account. At least 24h with Apple, which throttles more frequent ones.",
        seeAlso: ["revalidation.grace", "apple.base_url"]),
      .withDefault(
        "revalidation.grace", .duration(.zero...(.seconds(365 * 86_400))), into: \.configuration.revalidation.grace,
        """
        Time for which sessions continue without a successful verification, from the first failed attempt. After that \
        the next request waits for a verification, and the user must sign in again if it fails.
        """, seeAlso: ["revalidation.interval"]),
    ])

  static let native = Section<ConfigurationBuilder>(
    name: "native", introduction: "Native apps, and browser sign-ins that return to a custom URL scheme.",
    entries: [
      .withDefault(
        "native.return_schemes", ValueType.scheme.list(), into: \.configuration.native.returnSchemes,
        "Custom URL schemes to which a sign-in may return with a one-time code.",
        omission: "Sign-ins return to public_url only.", seeAlso: ["apple.native_client_ids"]),
      .withDefault(
        "native.bearer", .boolean, into: \.configuration.native.acceptsBearer,
        """
        Whether apps may use "Authorization: Bearer" instead of the cookie. They receive the token at sign-in as \
        session_token. The gateway's tokens are never forwarded to the application; other Authorization headers are.
        """, seeAlso: ["apple.native_client_ids", "native.return_schemes"]),
    ])

  static let store = Section<ConfigurationBuilder>(
    name: "store", introduction: "Storage of accounts and sessions.",
    entries: [
      .withDefault(
        "store.url", .storeURL, into: \.configuration.store.location,
        """
        "sqlite:" and the path of a file, for one gateway; or "postgresql://USER@HOST/DATABASE", for several gateways \
        that share sessions. Put the password into the environment variable PGPASSWORD, which libpq reads: it may have \
        any characters, which here would have to be percent-encoded. Over a network add "?sslmode=verify-full".
        """),
      .withDefault(
        "store.outage_grace", .duration(.zero...(.seconds(86_400))), into: \.configuration.store.outageGrace,
        """
        Time for which cached sessions continue while the store is unavailable; less than a second counts as one \
        second. A sign-out on another gateway may be unnoticed for that long.
        """),
      .withDefault(
        "store.connections", .integer(1...1_000), into: \.configuration.store.connections,
        """
        PostgreSQL only: maximum number of connections of this gateway, in addition to one for LISTEN. The server's \
        max_connections must suffice for all gateways.
        """, seeAlso: ["store.notify"]),
      .withDefault(
        "store.notify", .boolean, into: \.configuration.store.notifies,
        """
        PostgreSQL only: whether gateways notify each other of ended sessions by NOTIFY. Otherwise each polls once a \
        second. Disable it with transaction pooling and on engines without LISTEN.
        """, seeAlso: ["store.connections"]),
    ])

  static let identity = Section<ConfigurationBuilder>(
    name: "identity", introduction: "The user's identity in forwarded requests.",
    entries: [
      .withDefault(
        "identity.allow_unverified_email", .boolean, into: \.configuration.identityHeaders.allowUnverifiedEmail,
        """
        Whether an address that Apple has not verified is forwarded to the application and matched by rules. Leave it \
        false if the application identifies users by address.
        """, seeAlso: ["identity.headers", "route.allow_emails"]),
      .withDefault(
        "identity.encoding", .choice, into: \.configuration.identityHeaders.encoding,
        """
        The encoding of text beyond printable ASCII in headers: "percent" is percent-encoded UTF-8 ("%" becomes \
        "%25"), "utf8" is unencoded UTF-8.
        """),
      .withDefault(
        "identity.keep_headers", ValueType.clientHeader.list(), into: \.configuration.identityHeaders.keptHeaders,
        """
        Headers that are forwarded although applications commonly take them for the user or the address. Headers about \
        the user (Remote-*, X-Remote-*, X-WEBAUTH-*, X-Auth-Request-*, X-Authenticated-*, X-Forwarded-User and similar \
        names) are removed otherwise; X-Forwarded-*, X-Real-IP and similar names, except from trusted proxies. Never \
        a header that the configuration sets.
        """, seeAlso: ["identity.headers", "upstream.remove_headers", "listen.trusted_proxies"]),
    ])

  static let identityHeaders = Section<ConfigurationBuilder>(
    name: "identity.headers",
    introduction: """
      Headers for the application, each with its claim: sub (Apple's identifier of the user, the only one that never \
      changes), email, name, given_name, family_name, groups (comma-separated), session_id, is_private_email, org_id, or any \
      other claim of the identity token. Client-sent headers of these names are removed in any spelling. An empty claim \
      has no header. A value may be a template, as in [upstream.headers].
      """,
    entries: [
      .withDefault(
        "identity.headers", .headers, into: \.configuration.identityHeaders.headers,
        "The headers, in this order. Your own table replaces the complete default.",
        seeAlso: ["identity.allow_unverified_email", "identity.encoding", "upstream.headers"])
    ])

  static let headers = Section<ConfigurationBuilder>(
    name: "headers",
    introduction: """
      Response headers that are added to every response, the gateway's own pages and redirects included. One that the \
      application sets itself stays as it is.
      """,
    entries: [
      .withDefault(
        "headers", .responseHeaders, into: \.configuration.responseHeaders,
        """
        The headers with their values, as in Strict-Transport-Security = "max-age=31536000". Not those that frame a \
        message or that the gateway writes itself.
        """)
    ])

  static let pages = Section<ConfigurationBuilder>(
    name: "pages", introduction: "The gateway's own pages.",
    entries: [
      .optional(
        "pages.application_name", applicationName,
        into: \.configuration.pages.applicationName, example: "\"Example Orders\"",
        "The application's name on the sign-in page and in titles.",
        omission: "The host of public_url."),
      .withDefault(
        "pages.show_sign_in_page", .boolean, into: \.configuration.pages.showSignInPage,
        "Whether a browser without a session gets the sign-in page first (true) or is redirected to Apple (false)."),
      .withDefault(
        "pages.languages", ValueType<PageLanguage>.choice.named("language").list(),
        into: \.configuration.pages.languages,
        """
        The languages of the pages: en, de, fr, es, it, pt-BR, ja, ko, zh-Hans, ar. The browser's preference selects \
        one (Accept-Language); the first of the list is the default.
        """, seeAlso: ["pages.button.locale"]),
      .optional(
        "pages.templates", .folder, into: \.templates, example: "\"pages\"",
        """
        A folder with custom Mustache templates and a stylesheet, which replace the built-in ones of the same name: \
        layout.mustache, sign-in.mustache, sign-out.mustache, signed-out.mustache, failure.mustache, repost.mustache, \
        fragment.mustache, account.mustache, question.mustache, notice.mustache, style.css. See Documentation/PAGES.md.
        """, omission: "The built-in templates."),
    ])

  static let log = Section<ConfigurationBuilder>(
    name: "log",
    introduction: "Logs on standard output. No line contains a secret, a cookie, a code or a query.",
    entries: [
      .withDefault(
        "log.access", .boolean, into: \.configuration.log.accessLog,
        "Whether there is an access log, with a line for each request.",
        seeAlso: ["log.access_fields"]),
      .optional(
        "log.access_fields", ValueType.choice.list().named("list of fields"),
        into: \.configuration.log.accessFields,
        example: "[\"request\", \"method\", \"path\", \"status\", \"duration\", \"user_agent\"]",
        """
        The fields of an access log line, in this order, after its time. Available are: \
        \(AccessLogField.allCases.map(\.rawValue).joined(separator: ", ")). "duration" is the total time, "upstream" \
        the time until the application's response began, "gateway" the rest; "user" is a keyed hash, "trace" the trace \
        of the request's traceparent. Queries are never logged.
        """,
        omission: "\(AccessLogField.standard.map(\.rawValue).joined(separator: ", ")).", seeAlso: ["log.access"]),
      .withDefault(
        "log.audit", .boolean, into: \.configuration.log.auditLog,
        """
        Whether there is an audit log, with a line for each sign-in and failure, sign-out, revalidation, revocation, \
        notification of Apple and admin operation.
        """, seeAlso: ["log.audit_events"]),
      .optional(
        "log.audit_events", ValueType.choice.list().named("list of events"), into: \.configuration.log.auditEvents,
        example: "[\"sign_in\", \"sign_in_failed\", \"administration\"]",
        """
        The events in the audit log. Available are: \
        \(AuditEvent.Name.allCases.map(\.rawValue).joined(separator: ", ")).
        """,
        omission: "All of them.", seeAlso: ["log.audit"]),
      .withDefault(
        "log.level", .choice.named("severity"), into: \.configuration.log.level,
        """
        The minimum severity in the application log: \
        \(LogSettings.Level.allCases.map(\.rawValue).joined(separator: ", ")), which disables it. Errors that prevent \
        the start are always written to standard error.
        """),
      .withDefault(
        "log.format", .choice, into: \.configuration.log.format,
        """
        The format of log lines: "json", "text", or "auto", which is text on a terminal and JSON elsewhere. "combined" \
        writes access log lines in the Combined Log Format of Apache and nginx, without queries, with a keyed hash as \
        the user; other lines are as with "auto".
        """, seeAlso: ["log.access", "log.access_fields"]),
    ])

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
        itself. It is compared percent-encoded and case-sensitively.
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
        over prefixes.
        """, seeAlso: ["route.path"]),
      .optional(
        "route.methods", ValueType.method.list(), into: \.methods, example: "[\"GET\", \"POST\"]",
        """
        The methods that the route applies to, case-sensitive; "GET" includes "HEAD". Such a route takes precedence \
        over one of the same path without methods. For all methods, X-HTTP-Method-Override, X-HTTP-Method and \
        X-Method-Override are removed from requests below its path; a field "_method" in a form is not seen.
        """, omission: "All methods.", seeAlso: ["route.path"]),
      .optional(
        "route.access", .choice, into: \.access, example: "\"public\"",
        """
        "public": everybody; the identity is still forwarded if there is a session. "signed-in": everybody with a \
        session. "deny": nobody. "sign-out": the application's own address for signing out, which the gateway answers \
        in its place: a POST from its own origin ends the session as POST path_prefix + "/sign-out" does, a navigation \
        asks first. networks and deny lists do not apply there.
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
        "route.allow_subjects", subjects, into: \.subjects,
        example: "[\"001234.0123456789abcdef0123456789abcdef.0123\"]",
        """
        Admitted users by Apple's sub. A user in any of the lists is admitted; the lists of less specific routes are \
        ignored then.
        """, omission: "The list is empty.", seeAlso: ["access.allow_subjects"]),
      .optional(
        "route.allow_emails", emails, into: \.emails, example: "[\"ada@example.com\"]",
        """
        Admitted users by e-mail address, case-insensitive. Apple's claim must be exactly one address with an unquoted \
        local part. Apple verifies an address only when it is added to the Apple Account: a user who lost the mailbox \
        is still admitted.
        """, omission: "The list is empty.",
        seeAlso: ["identity.allow_unverified_email"]),
      .optional(
        "route.allow_email_domains", emailDomains, into: \.emailDomains, example: "[\"example.com\"]",
        """
        Admitted users by the domain of their e-mail address. Apple verifies an address only when it is added to the \
        Apple Account: a user who left the organization is still admitted.
        """, omission: "The list is empty.",
        seeAlso: ["identity.allow_unverified_email"]),
      .optional(
        "route.allow_organizations", organizations, into: \.organizations, example: "[\"1234567\"]",
        "Admitted users by the org_id of their Managed Apple Account.", omission: "The list is empty."),
      .optional(
        "route.allow_groups", groups, into: \.groups, example: "[\"staff\"]",
        "Admitted users by group. Each must be declared as a [[group]].", omission: "The list is empty.",
        seeAlso: ["group.name", "access.allow_groups"]),
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
        """, omission: "No condition here.", seeAlso: ["access.networks", "listen.trusted_proxies"]),
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
