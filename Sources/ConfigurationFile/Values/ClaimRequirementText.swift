import AccessPolicy

/// The text form of a claim requirement: the claim, `=`, and one value.
enum ClaimRequirementText {
  static func parse(_ text: String) throws(Diagnostic) -> ClaimRequirement {
    let parts = text.utf8.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false
    ).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 2, !parts[1].isEmpty else {
      throw Diagnostic(
        "names no value", remedy: "write the claim, \"=\" and what it says, as in \"real_user_status=2\"")
    }
    guard parts[1].utf8.count <= 255, parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Diagnostic(
        "has a value that no claim can have", remedy: "write at most 255 bytes without control characters")
    }
    let claim = parts[0]
    for (names, problem, remedy) in unsuited where names.contains(where: { $0.utf8.elementsEqual(claim.utf8) }) {
      throw Diagnostic(problem, remedy: remedy)
    }
    try IdentityHeaderText.checkClaim(claim)
    if let known = values.first(where: { $0.claim.utf8.elementsEqual(claim.utf8) }),
      !known.values.contains(where: { $0.utf8.elementsEqual(parts[1].utf8) })
    {
      let choice = known.values.map { "\"\(claim)=\($0)\"" }.joined(separator: " or ")
      throw Diagnostic("is what Apple never says", remedy: "write \(choice)")
    }
    return ClaimRequirement(claim: claim, values: [parts[1]])
  }

  /// Claims that a rule must not use, or for which there is a better key.
  private static let unsuited: [(names: [String], problem: String, remedy: String)] = [
    (["sub"], "has a list of its own", "write allow_subjects"),
    (["groups"], "is Cordon's own claim", "write allow_groups"),
    (["email"], "has its own case-insensitive lists", "write allow_emails or allow_email_domains"),
    (
      ["name", "given_name", "family_name"], "is chosen by the user and proves nothing",
      "write allow_subjects"
    ),
    (
      ["session_id", "iat", "exp", "auth_time", "nonce", "c_hash", "at_hash"], "changes with each sign-in",
      "write allow_subjects, or remove it"
    ),
  ]

  /// Claims with few possible values. Apple writes flags as Booleans and as text; rules see both as these.
  private static let values: [(claim: String, values: [String])] = [
    ("email_verified", ["true", "false"]), ("is_private_email", ["true", "false"]),
    ("nonce_supported", ["true", "false"]), ("mail_forwarding", ["true", "false"]),
    ("real_user_status", ["0", "1", "2"]),
  ]
}
