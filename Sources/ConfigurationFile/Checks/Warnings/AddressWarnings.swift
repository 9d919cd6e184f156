import AccessPolicy
import AppleIdentity
import DataPlane
import Sessions

/// Finds valid addresses that contradict each other.
enum AddressWarnings {
  static func warnings(_ configuration: Configuration, _ context: DecodingContext) -> [ConfigurationDiagnostic] {
    loops(configuration, context) + localApple(configuration, context) + storeInCleartext(configuration, context)
      + cleartextListener(configuration, context) + hostOfClient(configuration, context)
      + hostsWithoutPort(configuration, context) + hostsOfOneName(configuration, context)
  }

  /// Hosts that differ from another only by their port: browsers have one session cookie for both, which is worth
  /// something on the one that set it last.
  private static func hostsOfOneName(
    _ configuration: Configuration, _ context: DecodingContext
  ) -> [ConfigurationDiagnostic] {
    guard let own = try? configuration.publicOrigin else { return [] }
    var known = [own.host: own.authority]
    // The indexes match those of the file, because every host is valid.
    return configuration.hosts.enumerated().compactMap { index, site -> ConfigurationDiagnostic? in
      let origin = site.host.origin
      guard let other = known[origin.host] else {
        known[origin.host] = origin.authority
        return nil
      }
      return context.warning(
        atKey: HostChecks.path(at: index).appending("name"),
        "\"\(context.concealing(origin.authority))\" is \"\(context.concealing(other))\" on another port: browsers "
          + "keep one session cookie for both, so that users have to sign in again whenever they go from one to the "
          + "other",
        remedy: "give each host a name of its own")
    }
  }

  /// Hosts without the port of `public_url`: browsers that reach both by one listener send it, and get 421.
  private static func hostsWithoutPort(
    _ configuration: Configuration, _ context: DecodingContext
  ) -> [ConfigurationDiagnostic] {
    guard let own = try? configuration.publicOrigin else { return [] }
    // The indexes match those of the file, because every host is valid.
    return configuration.hosts.enumerated().compactMap { index, site -> ConfigurationDiagnostic? in
      let origin = site.host.origin
      guard let completed = HostChecks.withPort(origin, of: own) else { return nil }
      return context.warning(
        atKey: HostChecks.path(at: index).appending("name"),
        "\"\(context.concealing(origin.authority))\" is port \(origin.port), and public_url is port \(own.port)",
        remedy: "write \"\(context.concealing(completed))\", unless browsers reach this host without a port")
    }
  }

  /// The host in `X-Original-URL` as the only one: ingress-nginx writes the client's `Host` there, and with an absolute
  /// target forwards to another host.
  private static func hostOfClient(
    _ configuration: Configuration, _ context: DecodingContext
  ) -> [ConfigurationDiagnostic] {
    let believed = configuration.verify.believe
    guard !configuration.hosts.isEmpty, believed.contains(.originalURL), !believed.contains(.host) else { return [] }
    return [
      context.warning(
        atKey: NodePath("verify.believe"),
        "verify.believe has X-Original-URL without X-Forwarded-Host: where the proxy writes the client's Host into it, "
          + "as ingress-nginx does, clients choose the [[host]] whose rules are applied",
        remedy: "let the proxy set X-Forwarded-Host to the host that it forwards to, and add it to verify.believe")
    ]
  }

  /// The port of https: without a certificate: browsers would get no answer that they understand.
  private static func cleartextListener(
    _ configuration: Configuration, _ context: DecodingContext
  ) -> [ConfigurationDiagnostic] {
    let listener = configuration.listener
    let paths = [NodePath("listen")] + listener.others.indices.map { ListenerChecks.path(at: $0) }
    return zip(listener.acceptors, paths).compactMap { acceptor, path in
      guard case .ip(_, 443) = acceptor.address, acceptor.tls == nil else { return nil }
      let address = path.appending("address")
      return context.warning(
        atKey: address, "\(address) is port 443 without a certificate, and browsers speak TLS there",
        remedy: "set tls_certificate_file and tls_private_key_file, or leave TLS to a proxy and take another port")
    }
  }

  /// Upstreams that are `public_url`: each request would come back. Its own listeners are refused as upstreams.
  private static func loops(_ configuration: Configuration, _ context: DecodingContext) -> [ConfigurationDiagnostic] {
    guard let own = try? configuration.publicOrigin else { return [] }
    return ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices)).flatMap { settings, path in
      settings.addresses.filter { (try? PublicOrigin(parsing: $0.description)) == own }.map { address in
        let list = path.appending("urls")
        return context.warning(
          atKey: context.isPresent(list) ? list : path.appending("url"),
          "\(context.concealing(address.description)) is public_url: requests would come back to the gateway",
          remedy: "write the address of the application")
      }
    }
  }

  /// A simulator instead of Apple for an address that others can reach: it signs in anybody as anybody.
  private static func localApple(
    _ configuration: Configuration, _ context: DecodingContext
  ) -> [ConfigurationDiagnostic] {
    guard let apple = try? PublicOrigin(parsing: configuration.apple.baseURL), apple.isLoopback,
      let origin = try? configuration.publicOrigin, origin.scheme == .https, !origin.isLoopback
    else { return [] }
    return [
      context.warning(
        atKey: NodePath("apple.base_url"),
        "apple.base_url is on this machine, and public_url is not: a simulator of Apple lets anybody in as anybody",
        remedy: "remove apple.base_url, unless this is a test")
    ]
  }

  /// A PostgreSQL server on the network, whose connection may be read and answered by others.
  private static func storeInCleartext(
    _ configuration: Configuration, _ context: DecodingContext
  ) -> [ConfigurationDiagnostic] {
    guard case .postgreSQL(let url) = configuration.store.location, StoreURL.hasUnprotectedServer(url),
      !context.isSet("PGSSLMODE")
    else { return [] }
    return [
      context.warning(
        atKey: NodePath("store.url"),
        "store.url has no sslmode, so that the connection may be in cleartext, and to anybody",
        remedy: "append ?sslmode=verify-full, unless the network between is trusted")
    ]
  }
}
