import DataPlane
import IdentityAssertion

/// Tables for signed assertions and relayed notifications.
extension ConfigurationSchema {
  static let assertion = Section<ConfigurationBuilder>(
    name: "assertion",
    introduction: """
      Signed identity assertions, for applications that do not trust the network behind the gateway: a JWT (ES256), \
      verified with the keys at public_url + path_prefix + "/keys". See Documentation/IDENTITY-ASSERTION.md.
      """,
    entries: [
      .optional(
        "assertion.key_files", ValueType.file.list(), into: \.assertionKeyFiles, example: "[\"assertion.pem\"]",
        """
        Files with P-256 private keys in PEM; others must not be able to read them. The first signs, the public keys \
        of all are published. `cordon keygen --assertion --output FILE` creates one. To replace one, see "Key \
        rotation" in Documentation/IDENTITY-ASSERTION.md.
        """, omission: "No assertions.", seeAlso: ["assertion.audience"]),
      .optional(
        "assertion.audience", .words("text", expected: "what the application calls itself, as in \"orders\""),
        into: \.audience, example: "\"orders\"",
        "The audience (aud) of the assertion, which the application compares.",
        omission: "Required if there are key_files.", seeAlso: ["assertion.key_files"]),
      .withDefault(
        "assertion.send_header", .boolean, into: \.configuration.assertion.sendsHeader,
        "Whether requests of signed-in users have X-Identity-Assertion.",
        seeAlso: ["notifications.relay_url"]),
      .withDefault(
        "assertion.lifetime", .duration(.seconds(120)...(.seconds(3_600))), into: \.configuration.assertion.lifetime,
        """
        Lifetime of an assertion (exp). A session in use gets a new one each minute, and when a claim changes.
        """),
      .withDefault(
        "assertion.claims", ValueType.claim.list(), into: \.configuration.assertion.claims,
        """
        Claims in addition to iss, sub, aud, iat, exp and sid (the session), with names as in [identity.headers]. \
        Missing claims are omitted, and so is an address that Apple has not verified.
        """, seeAlso: ["identity.headers", "identity.allow_unverified_email"]),
    ])

  static let notifications = Section<ConfigurationBuilder>(
    name: "notifications",
    introduction: """
      Apple's server-to-server notifications (consent withdrawn, Apple Account deleted, mail forwarding changed), at \
      public_url + path_prefix + "/notifications": register that address with the App ID.
      """,
    entries: [
      .optional(
        "notifications.relay_url", .endpoint, into: \.configuration.notificationRelay,
        example: "\"http://127.0.0.1:3000/hooks/apple\"",
        """
        The address to which notifications are relayed after they were applied: a POST with a JWT signed with the \
        first of assertion.key_files. It is retried for seven days until a 2xx response, also after a restart.
        """, omission: "The gateway applies notifications without relaying them.",
        seeAlso: ["assertion.key_files"])
    ])
}
