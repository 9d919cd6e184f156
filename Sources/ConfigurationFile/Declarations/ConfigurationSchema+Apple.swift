import AccessPolicy
import AppleIdentity

/// The tables about the registration with Apple, and native apps.
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
        outgoing TLS. Each of them is trusted, also an intermediate CA without its root.
        """, omission: "The system's CAs (the package ca-certificates) are trusted."),
      .optional(
        "apple.proxy", .proxyURL, into: \.configuration.appleProxy, example: "\"http://proxy:3128\"",
        """
        An HTTP proxy for requests to Apple. It gets CONNECT with host and port; TLS is verified end to end. With \
        "http://user:${PROXY_PASSWORD}@proxy:3128" it gets Proxy-Authorization (Basic), with a password from the \
        environment.
        """, omission: "Apple is reached directly; http_proxy and https_proxy of the environment are not read.",
        seeAlso: ["apple.tls_ca_file"]),
    ])

  static let native = Section<ConfigurationBuilder>(
    name: "native", introduction: "Native apps, and browser sign-ins that return to a custom URL scheme.",
    entries: [
      .withDefault(
        "native.return_schemes", ValueType.scheme.list(), into: \.configuration.native.returnSchemes,
        """
        Custom URL schemes to which a sign-in may return with a one-time code. Use the reverse of a domain name of \
        yours, as in "com.example.app": another app may have registered a scheme without a dot, too.
        """,
        omission: "Sign-ins return to public_url only.", seeAlso: ["apple.native_client_ids"]),
      .withDefault(
        "native.bearer", .boolean, into: \.configuration.native.acceptsBearer,
        """
        Whether apps may use "Authorization: Bearer" instead of the cookie. They receive the token at sign-in as \
        session_token. A header that consists of such a token is not forwarded to the application; other \
        Authorization headers are.
        """, seeAlso: ["apple.native_client_ids", "native.return_schemes"]),
    ])
}
