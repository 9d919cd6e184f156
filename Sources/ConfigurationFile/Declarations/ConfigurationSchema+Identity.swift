import Sessions

/// The tables about the user's identity in forwarded requests.
extension ConfigurationSchema {
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
        names, also those of other gateways, as in OIDC-* and X-Pomerium-*) or a client certificate (Client-Cert, \
        SSL-Client-* and similar names) are removed otherwise; X-Forwarded-*, X-Real-IP and similar names, except from \
        trusted proxies. Write each name in full. Never a header that the configuration sets, or one that names a path \
        prefix (Script-Name, X-Forwarded-Prefix).
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
}
