import AccessPolicy
import DataPlane
import IdentityAssertion
import Operations
import Sessions

/// Finds keys that have no effect, because of another key or without one.
struct EffectlessWarnings {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext

  var all: [ConfigurationDiagnostic] { assertion + log + queues + ages + believed }

  /// Settings of assertions that nothing signs. `send_header = false` says the same.
  private var assertion: [ConfigurationDiagnostic] {
    guard !configuration.assertion.isOn else { return [] }
    let path = NodePath(ConfigurationSchema.assertion.name)
    if context.isPresent(path.appending("key_files")) {
      return [
        context.warning(
          atKey: path.appending("key_files"), "assertion.key_files is empty, so that there are no assertions",
          remedy: "create a key with: cordon keygen --assertion --output assertion.pem; or remove the key")
      ]
    }
    let keys = (configuration.assertion.sendsHeader ? ["send_header"] : []) + ["lifetime", "claims"]
    return keys.map { path.appending($0) }.filter { context.isPresent($0) }.map { key in
      context.warning(
        atKey: key, "\(key) has no effect: without assertion.key_files there are no assertions",
        remedy: "write key_files and audience, or remove this")
    }
  }

  /// Contents of logs that are off.
  private var log: [ConfigurationDiagnostic] {
    let log = configuration.log
    return [
      ("access_fields", "log.access", log.accessFields != nil && !log.accessLog),
      ("audit_events", "log.audit", log.auditEvents != nil && !log.auditLog),
    ].filter(\.2).map { key, name, _ in
      context.warning(
        atKey: NodePath(ConfigurationSchema.log.name).appending(key),
        "log.\(key) has no effect, because \(name) is false", remedy: "write \(name) = true, or remove this")
    }
  }

  /// Queues for connections without a limit. `[[upstreams]]` inherit the queue of `[upstream]`.
  private var queues: [ConfigurationDiagnostic] {
    let upstreams = ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices))
    return upstreams.enumerated().compactMap { index, upstream -> ConfigurationDiagnostic? in
      let (settings, path) = upstream
      let queue = path.appending("queue")
      guard context.isPresent(queue), settings.maximumConnections == 0 else { return nil }
      let isInherited =
        index == 0
        && upstreams.dropFirst().contains { other, path in
          other.maximumConnections > 0 && !context.isPresent(path.appending("queue"))
        }
      guard !isInherited else { return nil }
      return context.warning(
        atKey: queue, "\(queue) has no effect: without max_connections no request waits",
        remedy: "write max_connections, or remove this")
    }
  }

  /// Ages that no session reaches.
  private var ages: [ConfigurationDiagnostic] {
    let lifetime = Int(configuration.session.lifetime.components.seconds)
    var ages = [(NodePath(ConfigurationSchema.access.name), configuration.access.maxAge)]
    for (index, route) in configuration.routes.enumerated() { ages.append((places.route(index), route.maxAge ?? 0)) }
    return ages.filter { $0.1 > lifetime }.map { path, _ in
      let key = path.appending("max_age")
      return context.warning(
        atKey: key, "\(key) has no effect: it is longer than session.lifetime, after which each session ends",
        remedy: "shorten it, or extend session.lifetime")
    }
  }

  /// Sources of everything but the path, without which `verify` knows no route.
  private var believed: [ConfigurationDiagnostic] {
    let believed = configuration.verify.believe
    let paths: [VerifySettings.Source] = [.originalURI, .forwardedURI, .originalURL, .path]
    guard !believed.isEmpty, !believed.contains(where: paths.contains) else { return [] }
    return [
      context.warning(
        atKey: NodePath("verify.believe"),
        "verify.believe names no source of the path, so that verify refuses every request once a route has a rule",
        remedy: "add what the proxy sets: \(paths.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))")
    ]
  }
}
