import DataPlane
import Sessions
import WebFormats

/// Finds headers that tell an application who the user is, by nothing but the user's name. Users may change it when
/// they sign in, and it arrives from the browser, unsigned.
enum ChosenNames {
  /// The claims of names.
  private static let names = ["name", "given_name", "family_name"]

  /// The ends of headers that name the user, letters only.
  private static let endings = ["user", "userid", "username", "login", "subject", "uid"]

  static func warnings(_ configuration: Configuration, _ context: DecodingContext) -> [ConfigurationDiagnostic] {
    let identity = NodePath(ConfigurationSchema.identityHeaders.name)
    var places = configuration.identityHeaders.headers.filter { isUser($0.name) && areNames($0.claims) }
      .map { identity.appending($0.name) }
    // A valid configuration has every upstream of the document, in its order.
    for (settings, path) in ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices)) {
      let own = configuration.identityHeaders.upstreams.first { UpstreamChecks.isSame($0.upstream, settings.name) }
      let headers = (own?.headers ?? []).filter { isUser($0.name) && areNames($0.value.claims) }
      places += headers.map { path.appending("headers").appending($0.name) }
      if let basic = own?.basic, areNames(basic.user.claims) {
        places.append(path.appending("basic").appending("user"))
      }
    }
    return places.map { place in
      context.warning(
        atKey: place,
        "\(place) is only a name, which users choose for themselves when they sign in: each of them may take that of "
          + "another",
        remedy: "write sub, or email, by which the application can tell users apart")
    }
  }

  private static func isUser(_ header: String) -> Bool {
    let letters = header.utf8.filter(\.isASCIILetter).map(\.asciiLowercased)
    return endings.contains { letters.suffix($0.utf8.count).elementsEqual($0.utf8) }
  }

  private static func areNames(_ claims: [String]) -> Bool {
    !claims.isEmpty && claims.allSatisfy { claim in names.contains { $0.utf8.elementsEqual(claim.utf8) } }
  }
}
