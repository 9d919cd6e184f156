import AccessPolicy
import AppleIdentity
import Operations
import Pages
import Sessions

/// The tables about Apple, sessions and who is let in.
extension ConfigurationSchema {
  static let apple = Section<ConfigurationBuilder>(
    name: "apple",
    introduction: """
      The registration with Apple (Certificates, Identifiers & Profiles in the developer account): a Services ID for the \
      web with this gateway's callback as its return URL, and a key with Sign in with Apple enabled.
      """,
    entries: [
      .required(
        "apple.client_id", .words("identifier", expected: "a Services ID, as in \"com.example.web\""),
        into: \.configuration.apple.clientID, example: "\"com.example.web\"",
        "The Services ID. Upper and lower case differ, and the Team ID is no part of it."),
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
        The private key that Apple lets you download once. Others must not be able to read the file. It signs client \
        secrets that live for minutes; nothing has to be renewed by hand.
        """, seeAlso: ["apple.key_id"]),
      .withDefault(
        "apple.scopes", ValueType<AppleSettings.Scope>.choice.list(), into: \.configuration.apple.scopes,
        """
        What Apple is asked for. The user can hide the address (Apple forwards mail then) and change the name; the name \
        comes at the first sign-in only, and the gateway keeps it. "edu.classes.read" and "edu.users.read" are for Apple \
        School Manager.
        """),
      .withDefault(
        "apple.response_mode", .choice, into: \.configuration.apple.responseMode,
        "How Apple hands its answer over. With any scope it must be \"form_post\".",
        seeAlso: ["apple.scopes", "apple.response_type"]),
      .withDefault(
        "apple.response_type", .choice, into: \.configuration.apple.responseType,
        "What Apple hands over: an authorization code, and an identity token with it.",
        seeAlso: ["apple.response_mode"]),
      .withDefault(
        "apple.native_client_ids",
        ValueType.words("identifier", expected: "an App ID, as in \"com.example.app\"").list(),
        into: \.configuration.apple.nativeClientIDs,
        "App IDs of native apps, of the same team, that may exchange Apple's tokens for a session.",
        seeAlso: ["native.return_schemes"]),
      .withDefault(
        "apple.base_url", .words("origin", expected: "an origin, as in \"https://appleid.apple.com\""),
        into: \.configuration.apple.baseURL,
        """
        Where Apple is. Another address is for tests only, plain http: on loopback only; tokens must name Apple as their \
        issuer whatever it is.
        """),
      .absent(
        "apple.tls_ca_file", .file, into: \.configuration.apple.authorityFile, example: "\"tls/egress-ca.pem\"",
        """
        The authorities, in PEM, whose certificates are believed of Apple, and no others: for a network that looks into TLS \
        on its way out.
        """, omission: "Those of the system (the package ca-certificates) are believed."),
    ])

  static let session = Section<ConfigurationBuilder>(
    name: "session", introduction: "How long a session lasts, and what proves it.",
    entries: [
      .required(
        "session.secret_files", ValueType.file.list(), into: \.configuration.session.secretFiles,
        example: "[\"session.key\"]",
        """
        Files with secrets, each of at least 32 bytes; others must not be able to read them. The first signs cookies and \
        seals refresh tokens, all are accepted: to change the secret, put the new one first, and drop the old one when \
        `cordon store reseal` has run. `cordon keygen --output FILE` makes one.
        """),
      .withDefault(
        "session.lifetime", .duration(.seconds(1)...(.seconds(400 * 86_400))), into: \.configuration.session.lifetime,
        "From sign-in to the end of the session, however much it is used.",
        seeAlso: ["session.idle_timeout"]),
      .withDefault(
        "session.idle_timeout", .duration(.seconds(1)...(.seconds(400 * 86_400))),
        into: \.configuration.session.idleTimeout, "How long a session lasts without a request.",
        seeAlso: ["session.lifetime"]),
      .withDefault(
        "session.memory", .size(1_048_576...SizeText.limit), into: \.configuration.session.memory,
        """
        Memory for sessions that were used lately, about 2 KiB each, shared out among the event loops. What does not fit \
        is read from the store again: one indexed read.
        """),
    ])

  static let revalidation = Section<ConfigurationBuilder>(
    name: "revalidation",
    introduction:
      "How a user's standing with Apple is followed: each account's refresh token is checked, when its user shows up.",
    entries: [
      .withDefault(
        "revalidation.interval", .duration(.seconds(1)...(.seconds(365 * 86_400))),
        into: \.configuration.revalidation.interval,
        "Between two checks of one account. Never less than 24h against Apple, which throttles more.",
        seeAlso: ["revalidation.grace", "apple.base_url"]),
      .withDefault(
        "revalidation.grace", .duration(.zero...(.seconds(365 * 86_400))), into: \.configuration.revalidation.grace,
        """
        How long sessions go on without a good answer from Apple, counted from the first failed attempt to \
        check the account. After that, the next request waits for one check, and the user signs in again if it fails.
        """, seeAlso: ["revalidation.interval"]),
    ])

  static let native = Section<ConfigurationBuilder>(
    name: "native", introduction: "Native apps, and platforms that hand back by a custom URL scheme.",
    entries: [
      .withDefault(
        "native.return_schemes", ValueType.scheme.list(), into: \.configuration.native.returnSchemes,
        "Custom URL schemes that a sign-in may hand back to, with a one-time code.",
        omission: "Sign-ins hand back to public_url only.", seeAlso: ["apple.native_client_ids"]),
      .withDefault(
        "native.bearer", .boolean, into: \.configuration.native.acceptsBearer,
        """
        Whether apps may prove their session by "Authorization: Bearer" in place of the cookie. Then they are told the \
        token when they sign in, as session_token. A token of the gateway's own never reaches the application, any other \
        Authorization does.
        """, seeAlso: ["apple.native_client_ids", "native.return_schemes"]),
    ])

  static let store = Section<ConfigurationBuilder>(
    name: "store", introduction: "Where accounts and sessions are kept.",
    entries: [
      .withDefault(
        "store.url", .storeURL, into: \.configuration.store.location,
        """
        "sqlite:" and the path of a file, for one gateway; or "postgresql://USER@HOST/DATABASE", for several that share \
        their sessions. Write a password as a variable of the environment: "postgresql://cordon:${PGPASSWORD}@db/cordon".
        """),
      .withDefault(
        "store.outage_grace", .duration(.zero...(.seconds(86_400))), into: \.configuration.store.outageGrace,
        """
        How long sessions that are in memory go on while the store is away, at least one second. A sign-out made on \
        another gateway can be missed that long.
        """),
      .withDefault(
        "store.connections", .integer(1...1_000), into: \.configuration.store.connections,
        """
        PostgreSQL only: most connections of this gateway, beside one that it listens on. The server must have room for \
        those of every gateway (max_connections).
        """, seeAlso: ["store.notify"]),
      .withDefault(
        "store.notify", .boolean, into: \.configuration.store.notifies,
        """
        PostgreSQL only: whether gateways tell each other of ended sessions by NOTIFY, at once. Without it each looks once \
        a second. Switch it off behind a pooler that keeps no session, and on engines without LISTEN.
        """, seeAlso: ["store.connections"]),
    ])

  static let identity = Section<ConfigurationBuilder>(
    name: "identity", introduction: "How the application is told who the user is.",
    entries: [
      .withDefault(
        "identity.allow_unverified_email", .boolean, into: \.configuration.identityHeaders.allowUnverifiedEmail,
        """
        Whether an address that Apple has not verified is sent to the application and matched by rules. Leave it false \
        where the application takes the address for the user's key.
        """, seeAlso: ["identity.headers", "route.allow_emails"]),
      .withDefault(
        "identity.encoding", .choice, into: \.configuration.identityHeaders.encoding,
        """
        How text beyond printable ASCII travels in a header: "percent" is percent-encoded UTF-8 ("%" itself becomes \
        "%25"), "utf8" is the bytes as they are.
        """),
    ])

  static let identityHeaders = Section<ConfigurationBuilder>(
    name: "identity.headers",
    introduction: """
      Headers that the application gets, each with the claim that fills it: sub (Apple's name for the user, the only one \
      that never changes), email, name, given_name, family_name, session_id, is_private_email, org_id, or any other claim \
      of the identity token. What a client sends under one of these names, in any spelling, is removed. An empty claim is \
      no header.
      """,
    entries: [
      .withDefault(
        "identity.headers", .headers, into: \.configuration.identityHeaders.headers,
        "The headers, in this order. A table of your own replaces all of the default.",
        seeAlso: ["identity.allow_unverified_email", "identity.encoding"])
    ])

  static let pages = Section<ConfigurationBuilder>(
    name: "pages", introduction: "What the gateway's own pages say.",
    entries: [
      .absent(
        "pages.application_name", .words("text", limit: 100, expected: "a name of at most 100 bytes"),
        into: \.configuration.pages.applicationName, example: "\"Example Orders\"",
        "What the application is called on the sign-in page and in titles.",
        omission: "The pages name the host of public_url."),
      .withDefault(
        "pages.show_sign_in_page", .boolean, into: \.configuration.pages.showSignInPage,
        "Whether a browser without a session sees the sign-in page first (true) or goes straight to Apple (false)."),
      .withDefault(
        "pages.languages", ValueType<PageLanguage>.choice.named("language").list(),
        into: \.configuration.pages.languages,
        """
        The languages that the pages are offered in: en, de, fr, es, it, pt-BR, ja, ko, zh-Hans, ar. Each visitor \
        gets the one that the browser prefers (Accept-Language); the first of the list is for everybody who reads \
        none of them. A list of one is the language of everybody.
        """, seeAlso: ["pages.button.locale"]),
      .absent(
        "pages.templates", .folder, into: \.templates, example: "\"pages\"",
        """
        A folder with Mustache templates of your own, and a stylesheet, that stand in for those of the gateway by their \
        names: layout.mustache, sign-in.mustache, sign-out.mustache, signed-out.mustache, failure.mustache, \
        repost.mustache, fragment.mustache, style.css. See Documentation/PAGES.md.
        """, omission: "The gateway's own pages."),
    ])

  static let log = Section<ConfigurationBuilder>(
    name: "log",
    introduction: "What is written to standard output. No line holds a secret, a cookie, a code or a query.",
    entries: [
      .withDefault(
        "log.access", .boolean, into: \.configuration.log.accessLog, "Whether each request is told in a line.",
        seeAlso: ["log.access_fields"]),
      .absent(
        "log.access_fields", ValueType.choice.list().named("list of fields"),
        into: \.configuration.log.accessFields,
        example: "[\"request\", \"method\", \"path\", \"status\", \"duration\", \"user_agent\"]",
        """
        What the line of a request has, in this order, behind its time. There are: \
        \(AccessLogField.allCases.map(\.rawValue).joined(separator: ", ")). "duration" is the whole, "upstream" the \
        application's part of it until its answer began, "gateway" the rest; "user" is a keyed hash. Nothing tells a query.
        """,
        omission: "\(AccessLogField.standard.map(\.rawValue).joined(separator: ", ")).", seeAlso: ["log.access"]),
      .withDefault(
        "log.audit", .boolean, into: \.configuration.log.auditLog,
        """
        Whether sign-ins and their failures, sign-outs, daily checks, revocations, Apple's notifications and acts of \
        administration are told in a line each.
        """, seeAlso: ["log.audit_events"]),
      .absent(
        "log.audit_events", ValueType.choice.list().named("list of events"), into: \.configuration.log.auditEvents,
        example: "[\"sign_in\", \"sign_in_failed\", \"administration\"]",
        """
        Which events of the audit are told. There are: \(AuditEvent.Name.allCases.map(\.rawValue).joined(separator: ", ")).
        """,
        omission: "Every one.", seeAlso: ["log.audit"]),
      .withDefault(
        "log.level", .choice.named("severity"), into: \.configuration.log.level,
        """
        The least severity of events that are told: \(LogSettings.Level.allCases.map(\.rawValue).joined(separator: ", ")), \
        which is none. What keeps the gateway from starting is on standard error all the same.
        """),
      .withDefault(
        "log.format", .choice, into: \.configuration.log.format,
        "How lines look: \"json\", \"text\", or \"auto\", which is text on a terminal and JSON elsewhere."),
    ])

  static let route = Section<RouteBuilder>(
    name: "route",
    introduction: """
      Who may see what. Each [[route]] holds for the paths under its path. Each setting of a request comes from the most \
      specific route that states it (exact before prefix, longer before shorter), and in the end from [access]: a route \
      changes only what it states. A path that servers read in more than one way never gets a laxer rule: where another \
      reading falls under another route, both must admit.
      """,
    entries: [
      .required(
        "route.path", .words("path", limit: 2_048, expected: "a path, as in \"/public/\""), into: \.path,
        example: "\"/public/\"",
        """
        The prefix. One that ends with "/" rules what is below it, one that does not also rules the path itself. It is \
        compared as it travels, percent-encoded and case-sensitively.
        """, seeAlso: ["route.match"]),
      .withDefault(
        "route.match", .choice, into: \.match,
        """
        "prefix": the route holds for what is below its path, too. "exact": for the path alone, before every prefix.
        """, seeAlso: ["route.path"]),
      .absent(
        "route.access", .choice, into: \.access, example: "\"public\"",
        """
        "public": everybody, and the identity is still sent when there is a session. "signed-in": everybody with a \
        session. "deny": nobody.
        """,
        omission: "With one of the lists below, those whom it names; else inherited, in the end from [access].",
        seeAlso: ["access.allow_subjects"]),
      .absent(
        "route.unauthenticated", .choice, into: \.unauthenticated, example: "\"401\"",
        """
        What a request without a session gets: "401", or "auto", which sends a browser's navigation to sign in and \
        answers anything else with 401.
        """, omission: "Inherited.", seeAlso: ["access.unauthenticated"]),
      .absent(
        "route.upstream", .label, into: \.upstream, example: "\"reports\"",
        "The name of the application that serves these paths: one of [[upstreams]], or \"default\" for [upstream].",
        omission: "Inherited; in the end [upstream] serves them.", seeAlso: ["upstreams.name"]),
      .absent(
        "route.body_rate", .integer(0...1_000_000_000), into: \.bodyRate, example: "0",
        """
        How much of a request's body has to arrive each second, as for listen.limits.body_rate. 0 asks for nothing: for \
        streams from clients, which pause for as long as they like.
        """, unit: "bytes per second",
        omission: "Inherited; in the end listen.limits.body_rate, or nothing where the upstream's protocol is \"h2\".",
        seeAlso: ["listen.limits.body_rate"]),
      .absent(
        "route.allow_subjects", subjects, into: \.subjects,
        example: "[\"001234.0123456789abcdef0123456789abcdef.0123\"]",
        """
        Apple's sub of those who may pass. A user whom any one of the lists names passes; the lists of less specific \
        routes do not count then.
        """, omission: "This list names nobody.", seeAlso: ["access.allow_subjects"]),
      .absent(
        "route.allow_emails", emails, into: \.emails, example: "[\"ada@example.com\"]",
        """
        E-mail addresses of those who may pass, without regard to case. Apple's must be exactly one address, with a local \
        part without quotation marks. Apple verified an address when it was added to the Apple Account, not now: a person \
        who has lost the mailbox still passes.
        """, omission: "This list names nobody.",
        seeAlso: ["identity.allow_unverified_email"]),
      .absent(
        "route.allow_email_domains", emailDomains, into: \.emailDomains, example: "[\"example.com\"]",
        """
        The part behind the "@" of the addresses of those who may pass. Apple verified an address when it was added to the \
        Apple Account, not now: a person who has left the domain still passes.
        """, omission: "This list names nobody.",
        seeAlso: ["identity.allow_unverified_email"]),
      .absent(
        "route.allow_organizations", organizations, into: \.organizations, example: "[\"1234567\"]",
        "The org_id of the Managed Apple Accounts of those who may pass.", omission: "This list names nobody."),
      .absent(
        "route.private_email", .choice, into: \.privateEmail, example: "\"deny\"",
        """
        What is asked of the address, beside the lists: "deny" refuses who hides it behind Apple's relay (with a page that \
        says how to share it), "require" who does not. "allow" asks nothing here, and lifts nothing.
        """, omission: "Nothing is asked here.", seeAlso: ["route.allow_email_domains"]),
      .absent(
        "route.require_claims", ValueType.claimRequirement.list().named("list of claim=value"), into: \.requirements,
        example: "[\"real_user_status=2\", \"scopes=edu.users.read\"]",
        """
        What claims of Apple's have to say, beside the lists: each claim that is named says one of the values that are \
        named for it; of a claim with several values (scopes), one. real_user_status is told by native apps only; flags are \
        true or false.
        """, omission: "Nothing is required here.", seeAlso: ["identity.headers"]),
    ])
}
