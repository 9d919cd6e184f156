import AccessPolicy
import AppleIdentity
import DataPlane

/// Turns the routes of a document into settings.
enum RouteChecks {
  static func check(
    _ drafts: [(index: Int, draft: RouteDraft, present: Set<String>)], into configuration: inout Configuration,
    _ reading: inout Reading
  ) {
    var settings: [(index: Int, route: RouteSettings)] = []
    for (index, draft, present) in drafts {
      let path = NodePath(Sections.route.name).appending(index)
      checkUpstream(draft.upstream, of: path, configuration, &reading)
      if let route = route(draft, present, path, isUnder: configuration.pathPrefix, &reading) {
        settings.append((index, route))
      }
    }
    configuration.routes = settings.map(\.route)
    checkAddresses(settings, configuration, &reading)
    complain(of: settings.map(\.route), at: { settings.indices.contains($0) ? settings[$0].index : 0 }, &reading)
  }

  /// Rules about addresses that nobody is asked for would let nobody in, or everybody, and say nothing.
  private static func checkAddresses(
    _ routes: [(index: Int, route: RouteSettings)], _ configuration: Configuration, _ reading: inout Reading
  ) {
    // Native apps ask for scopes themselves.
    guard !configuration.apple.scopes.contains(.email), configuration.apple.nativeClientIDs.isEmpty else { return }
    for (index, route) in routes {
      guard case .rules(let rules) = route.access else { continue }
      let keys = [
        ("allow_emails", !rules.emails.isEmpty), ("allow_email_domains", !rules.emailDomains.isEmpty),
        ("private_email", rules.privateEmail != .allow),
      ]
      for (key, isThere) in keys where isThere {
        reading.complain(
          at: NodePath(Sections.route.name).appending(index).appending(key),
          "\(key) goes by the address, and apple.scopes does not ask for it",
          remedy: "write scopes = [\"name\", \"email\"], or go by allow_subjects or allow_organizations")
      }
    }
  }

  /// Looks at the path of a route whose other keys are not in order.
  static func checkPath(_ text: String, at path: NodePath, _ reading: inout Reading) {
    guard case .failure(let problems) = table([RouteSettings(path: text, access: .signedIn)]) else { return }
    for problem in problems.problems { complain(problem, at: path, &reading) }
  }

  private static func complain(
    of routes: [RouteSettings], at index: (Int) -> Int, _ reading: inout Reading
  ) {
    guard case .failure(let problems) = table(routes) else { return }
    for problem in problems.problems {
      complain(problem, at: NodePath(Sections.route.name).appending(index(problem.route)), &reading)
    }
  }

  private static func table(_ routes: [RouteSettings]) -> Result<RouteTable, RouteProblems> {
    Result { () throws(RouteProblems) in try RouteTable(routes: routes) }
  }

  private static func complain(_ problem: RouteProblem, at path: NodePath, _ reading: inout Reading) {
    // The message is "WHAT: …; REMEDY": what stands after the last semicolon tells what to do.
    let message = Array(reading.concealing(problem.message).utf8)
    let cut = message.lastIndex(of: UInt8(ascii: ";")) ?? message.endIndex
    let remedy = message[cut...].drop { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: " ") }
    reading.complain(
      at: path.appending("path"), String(decoding: message[..<cut], as: UTF8.self),
      remedy: remedy.isEmpty ? "see `cordon reference`" : String(decoding: remedy, as: UTF8.self))
  }

  private static func checkUpstream(
    _ name: String?, of path: NodePath, _ configuration: Configuration, _ reading: inout Reading
  ) {
    let names = [UpstreamSettings.defaultName] + configuration.upstreams.map(\.name)
    guard let name, !names.contains(where: { UpstreamChecks.isSame($0, name) }) else { return }
    let nearest = NearestKey.find(name, among: names)
    reading.complain(
      at: path.appending("upstream"), "there is no upstream \(WrittenText(value: name, written: name).shown)",
      remedy: nearest.map { "did you mean \"\($0)\"?" }
        ?? "write [[upstreams]] with name = \"\(name)\" and its url, or leave the key out")
  }

  private static func route(
    _ draft: RouteDraft, _ present: Set<String>, _ path: NodePath, isUnder prefix: String, _ reading: inout Reading
  ) -> RouteSettings? {
    if draft.path.utf8.elementsEqual(prefix.utf8) || draft.path.utf8.starts(with: (prefix + "/").utf8) {
      reading.complain(
        at: path.appending("path"), "this route is under path_prefix, where the gateway answers itself",
        remedy: "remove it, or choose another path_prefix")
      return nil
    }
    guard let access = access(draft, path, &reading) else { return nil }
    var route = RouteSettings(path: draft.path, access: access)
    route.upstream = draft.upstream.flatMap { UpstreamChecks.isSame($0, UpstreamSettings.defaultName) ? nil : $0 }
    if draft.unauthenticated == .unauthorized { route.unauthenticated = .unauthorized }
    if present.contains("unauthenticated"), draft.access == .public || draft.access == .deny {
      let word = draft.access == .deny ? "deny" : "public"
      reading.complain(
        at: path.appending("unauthenticated"), "unauthenticated means nothing where access is \"\(word)\"",
        remedy: "remove one of the two")
      return nil
    }
    return route
  }

  private static func access(
    _ draft: RouteDraft, _ path: NodePath, _ reading: inout Reading
  ) -> RouteSettings.Access? {
    guard draft.hasRules else {
      return switch draft.access {
      case .public: .public
      case .deny: .deny
      case .signedIn, nil: .signedIn
      }
    }
    if let access = draft.access, access != .signedIn {
      reading.complain(
        at: path.appending("access"), "this route has access = \"\(access.rawValue)\" and says who may pass",
        remedy: access == .public
          ? "remove what says so to let everybody in, or access to let in only those it names"
          : "remove what says so to let nobody in, or access to let in those it names")
      return nil
    }
    return .rules(draft.rules)
  }
}
