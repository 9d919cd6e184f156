import AccessPolicy
import AppleIdentity
import DataPlane

/// Finds addresses that are in order by themselves and contradict each other.
enum AddressWarnings {
  static func warnings(_ configuration: Configuration, _ reading: DecodingContext) -> [ConfigurationDiagnostic] {
    loops(configuration, reading) + localApple(configuration, reading)
  }

  /// Upstreams that are `public_url`: each request would come back. Its own listeners are refused as upstreams.
  private static func loops(_ configuration: Configuration, _ reading: DecodingContext) -> [ConfigurationDiagnostic] {
    guard let own = try? configuration.publicOrigin else { return [] }
    return ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices)).flatMap { settings, path in
      settings.addresses.filter { (try? PublicOrigin(parsing: $0.description)) == own }.map { address in
        let list = path.appending("urls")
        return reading.warning(
          atKey: reading.isThere(list) ? list : path.appending("url"),
          "\(reading.concealing(address.description)) is public_url: requests would come back to the gateway",
          remedy: "write the address of the application")
      }
    }
  }

  /// A simulator instead of Apple, in front of what others can reach: it signs in anybody as anybody.
  private static func localApple(
    _ configuration: Configuration, _ reading: DecodingContext
  ) -> [ConfigurationDiagnostic] {
    guard let apple = try? PublicOrigin(parsing: configuration.apple.baseURL), apple.isLoopback,
      let origin = try? configuration.publicOrigin, origin.scheme == .https, !origin.isLoopback
    else { return [] }
    return [
      reading.warning(
        atKey: NodePath("apple.base_url"),
        "apple.base_url is on this machine, and public_url is not: a simulator of Apple lets anybody in as anybody",
        remedy: "remove apple.base_url, unless this is a test")
    ]
  }
}
