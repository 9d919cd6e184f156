package import FoundationEssentials

/// A row holds what this version did not write: it was changed by hand or is damaged.
package struct DamagedRow: Error {
  package let what: String

  package init(what: String) { self.what = what }
}

/// Records that stores keep as JSON.
package enum RecordText {
  package static func encode(_ record: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(record), as: UTF8.self)
  }

  package static func decode<Record: Decodable>(_ type: Record.Type, _ text: String) throws -> Record {
    do {
      return try JSONDecoder().decode(type, from: Data(text.utf8))
    } catch {
      throw DamagedRow(what: "\(type)")
    }
  }
}

extension SignIn {
  /// The account as this sign-in leaves it.
  ///
  /// - Parameters:
  ///   - before: as it was; nil for a user who was never here.
  ///   - submitted: the name that was kept before the exchange (`SessionStore.keepName`).
  package func account(after before: Account?, submitted: PersonName?) -> Account {
    Account(
      subject: session.subject,
      name: name ?? submitted ?? before?.name,
      claims: (before?.claims ?? AccountClaims()).afterSignIn(claims),
      latestAuthorization: session.began.orLater(before?.latestAuthorization),
      lastVerified: session.began.orLater(before?.lastVerified),
      lastAsked: session.began.orLater(before?.lastAsked),
      lastAnswer: before?.lastAnswer)
  }
}

extension Account {
  /// The account as an answer of Apple's leaves it.
  package func after(_ answer: CheckAnswer, at now: Date) -> Account {
    var after = self
    after.lastAnswer = answer.kind
    if case .good(let claims, _) = answer {
      after.lastVerified = now.orLater(lastVerified)
      if let claims { after.claims = self.claims.afterCheck(claims) }
    }
    return after
  }
}

extension Date {
  /// The later of the two, for clocks that differ a little. An instant more than a day ahead was written by a clock that
  /// was wrong, and counts for nothing.
  fileprivate func orLater(_ stored: Date?) -> Date {
    guard let stored, stored > self, stored.timeIntervalSince(self) < 86_400 else { return self }
    return stored
  }

  /// As stores keep it: whole milliseconds since 1970.
  package var stored: Int64 { millisecondsSince1970 }
}
