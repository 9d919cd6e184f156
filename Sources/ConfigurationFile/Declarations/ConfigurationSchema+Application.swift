import DataPlane
import IdentityAssertion

/// The tables about what the application is told beside headers.
extension ConfigurationSchema {
  static let assertion = Section<ConfigurationBuilder>(
    name: "assertion",
    introduction: """
      The user in signed form, for an application that does not trust the network between the gateway and itself: a JWT \
      (ES256) that it verifies with the keys at public_url + path_prefix + "/keys". See Documentation/IDENTITY-ASSERTION.md.
      """,
    entries: [
      .absent(
        "assertion.key_files", ValueType.file.list(), into: \.assertionKeyFiles, example: "[\"assertion.pem\"]",
        """
        Files with P-256 private keys in PEM; others must not be able to read them. The first signs, the public halves \
        of all are published: to change the key, put the new one second, an hour later first, and drop the old one an \
        hour after that. `cordon keygen --assertion --output FILE` makes one.
        """, omission: "Nothing is signed.", seeAlso: ["assertion.audience"]),
      .absent(
        "assertion.audience", .words("text", expected: "what the application calls itself, as in \"orders\""),
        into: \.audience, example: "\"orders\"",
        "What the assertion names as its audience (aud). The application compares it.",
        omission: "There must be one where there are keys.", seeAlso: ["assertion.key_files"]),
      .withDefault(
        "assertion.send_header", .boolean, into: \.configuration.assertion.sendsHeader,
        "Whether each request of a signed-in user carries X-Identity-Assertion.",
        seeAlso: ["notifications.relay_url"]),
      .withDefault(
        "assertion.lifetime", .duration(.seconds(120)...(.seconds(3_600))), into: \.configuration.assertion.lifetime,
        """
        From an assertion's making to its end (exp). One is made once a minute for each session in use, so a request \
        carries one with most of its life left.
        """),
      .withDefault(
        "assertion.claims", ValueType.claim.list(), into: \.configuration.assertion.claims,
        """
        What it tells beside iss, sub, aud, iat, exp and sid (the session): names as in [identity.headers]. A claim that \
        the account does not have is left out, and so is an address that Apple has not verified.
        """, seeAlso: ["identity.headers", "identity.allow_unverified_email"]),
    ])

  static let notifications = Section<ConfigurationBuilder>(
    name: "notifications",
    introduction: """
      What Apple tells of users by itself (consent withdrawn, Apple Account deleted, mail forwarding switched), at \
      public_url + path_prefix + "/notifications": register that address with the App ID.
      """,
    entries: [
      .absent(
        "notifications.relay_url", .endpoint, into: \.configuration.notificationRelay,
        example: "\"http://127.0.0.1:3000/hooks/apple\"",
        """
        Where each notification is handed on to, once it was carried out: a POST of a JWT signed with the first of \
        assertion.key_files. It is tried for seven days until it is answered with 2xx, also after a restart.
        """, omission: "The gateway acts on notifications, and the application hears nothing of them.",
        seeAlso: ["assertion.key_files"])
    ])
}
