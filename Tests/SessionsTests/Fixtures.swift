import Foundation
import Secrets
import Testing

@testable import Sessions

let noon = Date(timeIntervalSince1970: 1_790_000_000)

func secret(_ letter: Character, count: Int = 32) -> SessionSecret {
  SessionSecret(Array(String(repeating: letter, count: count).utf8))
}

func keyring(_ letters: Character...) throws -> SessionKeyring {
  try SessionKeyring(secrets: letters.map { secret($0) })
}

func makeAccount(
  verified: Date = noon, asked: Date? = nil, failing: Date? = nil,
  name: PersonName? = PersonName(given: "Ada", family: "Lovelace"),
  claims: AccountClaims = AccountClaims()
) throws -> Account {
  Account(
    subject: try #require(Subject("001234.ada.0987")), name: name, claims: claims, latestAuthorization: verified,
    lastVerified: verified, lastAsked: asked, checkFailingSince: failing)
}

func makeSession(lifetime: Duration = .seconds(30 * 86_400)) throws -> Session {
  Session(
    .random(), of: try #require(Subject("001234.ada.0987")), clientID: "com.example.web", now: noon, lifetime: lifetime)
}
