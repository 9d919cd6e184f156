import Secrets
import Sessions
import WebFormats

/// Finds headers that do not tell an application who the user is, though they look so.
enum UserHeaders {
  /// The claims of names. Users may change theirs when they sign in, and it arrives from the browser, unsigned.
  private static let names = ["name", "given_name", "family_name"]

  /// The ends of headers that name the user, letters only.
  private static let endings = ["user", "userid", "username", "login", "subject", "uid"]

  /// The claims that are written without braces by mistake, as `[identity.headers]` has them.
  private static let claims = names + ["sub", "email", "groups", "session_id", "org_id"]

  static func warnings(_ configuration: Configuration, _ context: DecodingContext) -> [ConfigurationDiagnostic] {
    HeaderPlace.all(of: configuration).flatMap { place -> [ConfigurationDiagnostic] in
      if isUser(place.name), !place.claims.isEmpty, place.claims.allSatisfy({ isOne($0, of: names) }) {
        return [
          context.warning(
            atKey: place.path,
            "\(place.path) is only a name, which users choose for themselves when they sign in: each of them may take "
              + "that of another",
            remedy: "write sub, or email, by which the application can tell users apart")
        ]
      }
      guard case .template(let template) = place.value else { return [] }
      if let claim = claimWithoutBraces(template) {
        return [
          context.warning(
            atKey: place.path,
            "\(place.path) is a text without a claim: the application gets the same for every user",
            remedy: "write \"{\(claim)}\" if the claim is meant")
        ]
      }
      return providers(in: template).map { domain in
        context.warning(
          atKey: place.path,
          "\"\(context.concealing(domain))\" is a mail provider's domain: anybody can choose an address there, and "
            + "with it the user name that \(place.path) sends",
          remedy: "send the whole address, as in \"{email}\"")
      }
    }
  }

  private static func isUser(_ header: String) -> Bool {
    let letters = header.utf8.filter(\.isASCIILetter).map(\.asciiLowercased)
    return endings.contains { letters.suffix($0.utf8.count).elementsEqual($0.utf8) }
  }

  private static func isOne(_ claim: String, of claims: [String]) -> Bool {
    claims.contains { $0.utf8.elementsEqual(claim.utf8) }
  }

  /// The claim whose name is all that a text says, in the notation of another table or program: `email`, `$email`,
  /// `{{email}}`.
  private static func claimWithoutBraces(_ template: HeaderTemplate) -> String? {
    var letters: [UInt8] = []
    for part in template.parts {
      guard case .text(let text) = part else { return nil }
      letters += text.exposedBytes.filter { $0.isASCIILetter || $0 == UInt8(ascii: "_") }
    }
    return claims.first { $0.utf8.elementsEqual(letters) }
  }

  /// The domains of mail providers whose addresses are sent without them.
  private static func providers(in template: HeaderTemplate) -> [String] {
    template.parts.flatMap { part -> [String] in
      guard case .claim(let claim) = part else { return [] }
      return claim.filters.compactMap { filter -> String? in
        if case .local(let domain) = filter, MailProviders.isProvider(domain.utf8) { domain } else { nil }
      }
    }
  }
}
