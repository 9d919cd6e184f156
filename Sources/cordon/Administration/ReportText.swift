import Gateway

extension AccountReport {
  /// The account for a terminal: a line for each fact.
  var text: String {
    let flags = [
      emailVerified == true ? nil : "not verified", isPrivateEmail == true ? "Apple's relay" : nil,
    ].compactMap(\.self)
    return table([
      ("subject", subject), ("name", name),
      ("email", email.map { flags.isEmpty ? $0 : "\($0) (\(flags.joined(separator: ", ")))" }),
      ("organization", organization), ("mail", mailForwarding.map { $0 ? "forwarded" : "not forwarded" }),
      ("transfer", transferSubject.map { subject in transferTeam.map { "\(subject), to \($0)" } ?? subject }),
      ("formerly", formerSubject), ("signed in", latestAuthorization), ("confirmed", lastVerified),
      ("last check", lastAsked), ("last answer", lastAnswer),
      ("groups", groups.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") }),
      ("banned", ban.map { $0.until.map { "until \($0)" } ?? "for good" }), ("reason", ban?.reason),
    ])
  }
}

extension SessionReport {
  /// The session for a terminal: a line for each fact.
  var text: String {
    table([
      ("session", handle), ("client", clientID), ("began", began), ("last seen", lastSeen), ("ends", ends),
      ("browser", userAgent),
    ])
  }
}

extension DisconnectionReport {
  /// The results for a terminal: a line for each token, and one for the account.
  var text: String {
    var lines = revocations.map { revocation in
      "\(revocation.clientID): \(revocation.outcome)\(revocation.message.map { ": \(printable($0))" } ?? "")"
    }
    lines.append(
      forgotten
        ? "The account is deleted; \(ended) session\(ended == 1 ? "" : "s") ended."
        : "Nothing was deleted: fix that and try again, or delete the user anyway with --force.")
    return lines.joined(separator: "\n")
  }
}

/// The address of an account in a table, with a mark if Apple has not verified it; empty without an address.
func markedAddress(_ email: String?, isVerified: Bool?) -> String {
  email.map { isVerified == true ? $0 : "\($0) (not verified)" } ?? ""
}

/// A line for each fact that is known, the names in a column of their own.
private func table(_ rows: [(String, String?)]) -> String {
  rows.compactMap { name, value in
    value.map { "\(name)\(String(repeating: " ", count: max(0, 12 - name.count)))  \(printable($0))" }
  }.joined(separator: "\n")
}
