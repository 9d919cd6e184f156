import Sessions

/// The tables about sessions, their revalidation and their store.
extension ConfigurationSchema {
  static let session = Section<ConfigurationBuilder>(
    name: "session", introduction: "Secrets, lifetime and cache of sessions.",
    entries: [
      .required(
        "session.secret_files", ValueType.file.list(), into: \.configuration.session.secretFiles,
        example: "[\"session.key\"]",
        """
        Files with secrets, each of at least 32 bytes; others must not be able to read them. The first signs cookies \
        and encrypts refresh tokens, all are accepted: to rotate the secret, list the new one on every gateway, then \
        put it first, run `cordon store reseal`, and remove the old one later. `cordon keygen --output FILE` creates \
        one.
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

  static let store = Section<ConfigurationBuilder>(
    name: "store", introduction: "Storage of accounts and sessions.",
    entries: [
      .withDefault(
        "store.url", .storeURL, into: \.configuration.store.location,
        """
        "sqlite:" and the path of a file, for one gateway; or "postgresql://USER@HOST/DATABASE", for several gateways \
        that share sessions. Put the password into the environment variable PGPASSWORD, which libpq reads: it may have \
        any characters, which here would have to be percent-encoded. Over a network add "?sslmode=verify-full". It \
        cannot change while the gateway runs.
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
        max_connections must suffice for all gateways. It cannot change while the gateway runs.
        """, seeAlso: ["store.notify"]),
      .withDefault(
        "store.notify", .boolean, into: \.configuration.store.notifies,
        """
        PostgreSQL only: whether gateways notify each other of ended sessions by NOTIFY. Otherwise each polls once a \
        second. Disable it with transaction pooling and on engines without LISTEN. It cannot change while the gateway \
        runs.
        """, seeAlso: ["store.connections"]),
    ])
}
