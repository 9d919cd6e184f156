import ConfigurationFile

/// Translation of `upstreams`: the one without a path is the application, and each other one is an upstream of its own,
/// with a route. A path that does not end in a slash is that path only, as in oauth2-proxy.
struct OAuth2ProxyUpstreams {
  /// The upstream of `[upstream]`; nil where none was translated.
  private(set) var application: (origin: String, comment: String?)?
  /// The upstreams of `[[upstreams]]`, whose routes were added.
  private(set) var others: [(name: String, origin: String)] = []
  /// The message about all that were not translated, or need attention; nil where there are none.
  let left: String?

  /// - Parameters:
  ///   - list: the URLs. User information in them may be a password, and is in no message.
  ///   - routes: get a route for each of the others.
  init(_ list: [String], _ routes: inout OAuth2ProxyRoutes) {
    var left = Left()
    var hasRoot = false
    for (index, entry) in list.enumerated() {
      let (plain, hasUser) = OAuth2ProxyValue.withoutUserInformation(entry)
      guard let (origin, path) = OAuth2ProxyValue.upstream(plain) else {
        if plain.hasPrefix("static://") {
          left.fixed.append(plain)
        } else {
          left.notListening.append(plain)
        }
        continue
      }
      let name = "upstream-\(index + 1)"
      let isRoot = path.isEmpty || path == "/"
      let place = OAuth2ProxyRoutes.Place(path: path, isExact: path.utf8.last != UInt8(ascii: "/"))
      if hasUser {
        // Without them the application would refuse everybody, or take the request for one of nobody.
        left.withUser.append(plain)
        hasRoot = hasRoot || isRoot
      } else if isRoot, hasRoot {
        left.repeated.append(plain)
      } else if isRoot {
        application = (origin, nil)
        hasRoot = true
      } else if !OAuth2ProxyValue.isPlainPath(path) {
        left.withOtherPath.append(plain)
      } else if routes.add(place, "upstream", .text(name), comment: nil) {
        others.append((name, origin))
        if place.isExact { left.exact.append(plain) }
      } else {
        left.repeated.append(plain)
      }
    }
    if !hasRoot, left.fixed.isEmpty { left.withoutRoot.append("/") }
    if left.fixed.count == list.count, !list.isEmpty { application = ("http://127.0.0.1:9", Self.nothingForwarded) }
    self.left = left.message
  }

  private static let nothingForwarded =
    "nothing is forwarded where another proxy only asks verify: nothing needs to listen here"

  /// The upstreams that were not translated or need attention, by the reason.
  private struct Left {
    /// `static://202`.
    var fixed: [String] = []
    var notListening: [String] = []
    /// Without the user information: it may be a password.
    var withUser: [String] = []
    var withOtherPath: [String] = []
    var repeated: [String] = []
    /// These were translated.
    var exact: [String] = []
    var withoutRoot: [String] = []

    /// Nil if there are none.
    var message: String? {
      let parts = [
        (
          "a fixed answer", fixed,
          "if another proxy only asks verify (auth_request, forward-auth), nothing is forwarded, and upstream.url can "
            + "stay; otherwise it is the application"
        ),
        ("not an application that listens", notListening, "a web server can serve it"),
        (
          "user and password are not part of a URL here", withUser,
          "write the upstream with them in [upstream.basic], or in upstreams.basic of its [[upstreams]]"
        ),
        ("a path that a route cannot have", withOtherPath, "write the upstream and its route by hand"),
        ("another upstream has this path", repeated, "keep one of them"),
        (
          "this path only, and nothing below it, as in oauth2-proxy", exact,
          "remove match = \"exact\" from the route if it is for what is below, too"
        ),
        ("no upstream is for", withoutRoot, "upstream.url is the application for it"),
      ]
      let texts = parts.compactMap { problem, entries, remedy in
        entries.isEmpty ? nil : "\(problem): \(entries.joined(separator: ", ")); \(remedy)"
      }
      return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
  }
}
