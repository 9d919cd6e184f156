import IdentityAssertion

/// Checks of assertions and of the relay that signs with their key.
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
          atKey: audience, "assertion.audience is set, but assertion.key_files is not",
          remedy: "create a key with: cordon keygen --assertion --output assertion.pem")
      }
    } else if hasKeys, !reading.isThere("assertion.audience") {
      reading.complain(
        atKey: keys, "assertion.key_files is set, but assertion.audience is not",
        remedy: "write the application's identifier, as in audience = \"orders\", and have it compare that")
    }
    if draft.configuration.notificationRelay != nil, !hasKeys, !reading.isThere("assertion.key_files") {
      reading.complain(
        at: relay, "notifications.relay_url needs a signing key, but assertion.key_files is not set",
        remedy: "create a key with: cordon keygen --assertion --output assertion.pem")
    }
    checkClaims(draft.configuration.assertion.claims, &reading)
  }

  private static func checkClaims(_ claims: [String], _ reading: inout DecodingContext) {
    for (index, claim) in claims.enumerated() where AssertionSettings.registeredClaims.contains(claim) {
      let path = NodePath("assertion.claims").appending(index)
      reading.complain(
        at: path, "\(path): \"\(claim)\" is a reserved claim of every assertion", remedy: "leave it out")
    }
  }
}
