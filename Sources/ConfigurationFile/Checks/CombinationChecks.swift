import AccessPolicy
import AppleIdentity
import DataPlane
import IdentityAssertion
import Operations
import Pages
import Sessions

/// Finds valid values that make no sense together.
enum CombinationChecks {
  static func check(_ builder: inout ConfigurationBuilder, _ context: inout DecodingContext) {
    checkLimits(builder.configuration, &context)
    checkAddresses(builder.configuration, &context)
    checkApple(builder.configuration, &context)
    checkButton(builder.configuration, &context)
    checkTimes(&builder.configuration, &context)
    AssertionChecks.check(&builder, &context)
    checkLists(builder.configuration, &context)
  }

  private static func checkLimits(_ configuration: Configuration, _ context: inout DecodingContext) {
    let limits = configuration.listener.limits
    guard limits.targetBytes > limits.headBytes else { return }
    let key = context.validKeys.contains("listen.limits.target_length") ? "target_length" : "head_size"
    context.report(
      at: NodePath("listen.limits.\(key)"), "listen.limits.target_length is larger than listen.limits.head_size",
      remedy: "reduce listen.limits.target_length, or increase listen.limits.head_size")
  }

  private static func checkAddresses(_ configuration: Configuration, _ context: inout DecodingContext) {
    guard context.validKeys.contains("listen.address") else { return }
    let listen = configuration.listener.main.address
    if listen.overlaps(configuration.adminAddress) {
      let key = context.validKeys.contains("admin.address") ? "admin.address" : "listen.address"
      context.report(
        at: NodePath(key), "listen.address and admin.address are the same", remedy: "give each its own port")
    }
  }

  private static func checkApple(_ configuration: Configuration, _ context: inout DecodingContext) {
    for problem in AppleSettings.problems(of: configuration.apple, redirectURI: configuration.redirectURI) {
      // Missing and malformed values have been reported already, and so have their consequences.
      if keys(behind: problem.key).contains(where: { context.isPresent($0) && !context.validKeys.contains($0) }) {
        continue
      }
      if ConfigurationSchema.isRequired(problem.key), !context.validKeys.contains(problem.key) { continue }
      let path = NodePath(problem.key)
      context.report(at: path, "\(problem.key): \(problem.problem)", remedy: problem.remedy)
    }
  }

  private static func checkButton(_ configuration: Configuration, _ context: inout DecodingContext) {
    for problem in configuration.button.problems where context.validKeys.contains(problem.key) {
      context.report(at: NodePath(problem.key), "\(problem.key): \(problem.problem)", remedy: problem.remedy)
    }
  }

  /// The keys that a problem at one of them can come from.
  private static func keys(behind key: String) -> [String] {
    switch key {
    case "apple.response_mode": [key, "apple.scopes", "apple.response_type"]
    case "apple.client_id", "apple.native_client_ids": [key, "apple.team_id"]
    default: [key]
    }
  }

  private static func checkTimes(_ configuration: inout Configuration, _ context: inout DecodingContext) {
    let interval = configuration.revalidation.interval
    if configuration.apple.isApple, interval < .seconds(86_400) {
      context.report(
        at: NodePath("revalidation.interval"),
        "revalidation.interval is less than 24h, and Apple throttles more than one check a day",
        remedy: "write 24h or more")
    }
    guard configuration.session.idleTimeout > configuration.session.lifetime else { return }
    if context.validKeys.contains("session.idle_timeout") {
      context.report(
        at: NodePath("session.idle_timeout"), "session.idle_timeout is longer than session.lifetime",
        remedy: "shorten it, or extend session.lifetime")
    } else {
      // Only the lifetime was written: the default idle timeout follows it.
      configuration.session.idleTimeout = configuration.session.lifetime
    }
  }

  private static func checkLists(_ configuration: Configuration, _ context: inout DecodingContext) {
    if context.validKeys.contains("session.secret_files"), configuration.session.secretFiles.isEmpty {
      context.report(
        at: NodePath("session.secret_files"), "session.secret_files is empty",
        remedy: "create one with: cordon keygen --output session.key")
    }
    if context.validKeys.contains("pages.languages"), configuration.pages.languages.isEmpty {
      context.report(
        at: NodePath("pages.languages"), "pages.languages is empty",
        remedy: "write at least one, as in [\"en\"], or leave the key out")
    }
    if context.validKeys.contains("log.access_fields"), configuration.log.format == .combined {
      context.report(
        at: NodePath("log.access_fields"), "log.access_fields has no effect with log.format = \"combined\"",
        remedy: "remove one of the two")
    }
    if context.validKeys.contains("log.access_fields"), configuration.log.accessFields?.isEmpty == true {
      context.report(
        at: NodePath("log.access_fields"), "log.access_fields is empty",
        remedy: "name at least one, or disable the access log with log.access = false")
    }
    if context.validKeys.contains("log.audit_events"), configuration.log.auditEvents?.isEmpty == true {
      context.report(
        at: NodePath("log.audit_events"), "log.audit_events is empty",
        remedy: "name at least one, or disable the audit log with log.audit = false")
    }
    let lists: [(key: String, values: [String])] = [
      ("session.secret_files", configuration.session.secretFiles), ("listen.hosts", configuration.aliases),
      ("native.return_schemes", configuration.native.returnSchemes),
      ("verify.believe", configuration.verify.believe.map(\.rawValue)),
      ("pages.languages", configuration.pages.languages.map(\.rawValue)),
      ("assertion.key_files", configuration.assertion.keyFiles), ("assertion.claims", configuration.assertion.claims),
      ("log.access_fields", configuration.log.accessFields?.map(\.rawValue) ?? []),
      ("log.audit_events", configuration.log.auditEvents?.map(\.rawValue) ?? []),
    ]
    for (key, values) in lists where context.validKeys.contains(key) {
      var seen: Set<String> = []
      for (index, value) in values.enumerated() where !seen.insert(value).inserted {
        context.report(at: NodePath(key).appending(index), "\(key) lists this twice", remedy: "remove one of them")
      }
    }
  }
}
