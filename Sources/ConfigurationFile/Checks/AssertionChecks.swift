import IdentityAssertion

/// Checks of assertions and of the relay that signs with their key.
enum AssertionChecks {
  static func check(_ builder: inout ConfigurationBuilder, _ context: inout DecodingContext) {
    let (keys, audience, relay) = (
      NodePath("assertion.key_files"), NodePath("assertion.audience"), NodePath("notifications.relay_url")
    )
    builder.configuration.assertion.keyFiles = builder.assertionKeyFiles ?? []
    let hasKeys = !builder.configuration.assertion.keyFiles.isEmpty
    if let text = builder.audience {
      builder.configuration.assertion.audience = text
      if !hasKeys, context.validKeys.contains("assertion.key_files") || !context.isPresent("assertion.key_files") {
        context.report(
          atKey: audience, "assertion.audience is set, but assertion.key_files is not",
          remedy: "create a key with: cordon keygen --assertion --output assertion.pem")
      }
    } else if hasKeys, !context.isPresent("assertion.audience") {
      context.report(
        atKey: keys, "assertion.key_files is set, but assertion.audience is not",
        remedy: "write the application's identifier, as in audience = \"orders\", and have it compare that")
    }
    if builder.configuration.notificationRelay != nil, !hasKeys, !context.isPresent("assertion.key_files") {
      context.report(
        at: relay, "notifications.relay_url needs a signing key, but assertion.key_files is not set",
        remedy: "create a key with: cordon keygen --assertion --output assertion.pem")
    }
    checkClaims(builder.configuration.assertion.claims, &context)
  }

  private static func checkClaims(_ claims: [String], _ context: inout DecodingContext) {
    for (index, claim) in claims.enumerated() where AssertionSettings.registeredClaims.contains(claim) {
      let path = NodePath("assertion.claims").appending(index)
      context.report(
        at: path, "\(path): \"\(claim)\" is a reserved claim of every assertion", remedy: "leave it out")
    }
  }
}
