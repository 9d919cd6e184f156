import IdentityAssertion

/// What is signed for the application, and what needs a signature.
enum AssertionChecks {
  static func check(_ draft: inout ConfigurationBuilder, _ reading: inout DecodingContext) {
    let (keys, audience, relay) = (
      NodePath("assertion.key_files"), NodePath("assertion.audience"), NodePath("notifications.relay_url")
    )
    draft.configuration.assertion.keyFiles = draft.assertionKeyFiles ?? []
    let hasKeys = !draft.configuration.assertion.keyFiles.isEmpty
    if let text = draft.audience {
      draft.configuration.assertion.audience = text
      if !hasKeys, reading.good.contains("assertion.key_files") || !reading.isThere("assertion.key_files") {
        reading.complain(
          atKey: audience, "there is an assertion.audience, but no assertion.key_files",
          remedy: "make a key with: cordon keygen --assertion --output assertion.pem")
      }
    } else if hasKeys, !reading.isThere("assertion.audience") {
      reading.complain(
        atKey: keys, "there are assertion.key_files, but no assertion.audience",
        remedy: "write what the application calls itself, as in audience = \"orders\", and have it compare that")
    }
    if draft.configuration.notificationRelay != nil, !hasKeys, !reading.isThere("assertion.key_files") {
      reading.complain(
        at: relay, "notifications.relay_url wants a key to sign with, and there are no assertion.key_files",
        remedy: "make a key with: cordon keygen --assertion --output assertion.pem")
    }
    checkClaims(draft.configuration.assertion.claims, &reading)
  }

  private static func checkClaims(_ claims: [String], _ reading: inout DecodingContext) {
    for (index, claim) in claims.enumerated() where AssertionSettings.registeredClaims.contains(claim) {
      let path = NodePath("assertion.claims").appending(index)
      reading.complain(
        at: path, "\(path): \"\(claim)\" is in every assertion, with a meaning of its own", remedy: "leave it out")
    }
  }
}
