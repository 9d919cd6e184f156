import DataPlane
import Sessions
import WebFormats

/// Makes settings hold for all upstreams of one application, which may have several, as for another timeout on some
/// paths: a header that clients must not send by one of them, they must not send by another, and a session cookie that
/// is bound to an account by one of them is bound by all.
enum SharedApplications {
  /// - Parameter upstreams: the indexes of `[[upstreams]]` in the document.
  static func unite(_ configuration: inout Configuration, upstreams: [Int], _ context: inout DecodingContext) {
    let paths = ForwardingChecks.paths(of: configuration, upstreams)
    let first = UpstreamApplications(paths.map { $0.0 }).first
    let identity = configuration.identityHeaders
    var applications: [Int: Application] = [:]
    for (application, (settings, path)) in zip(first, paths) {
      let own = identity.upstreams.first { UpstreamChecks.isSame($0.upstream, settings.name) }
      let ofUsers = (own?.headers ?? []).filter { !$0.value.claims.isEmpty }.map(\.name)
      applications[application, default: Application()]
        .add(settings, headersOfUsers: ofUsers, at: path, &context)
    }
    let others = identity.headers.map(\.name)
    applications[first[0]]?.complete(&configuration.upstream, identityHeaders: others)
    for index in configuration.upstreams.indices {
      applications[first[index + 1]]?.complete(&configuration.upstreams[index], identityHeaders: others)
    }
  }

  /// The settings that the upstreams of one application share.
  private struct Application {
    private var upstreams = 0
    private var headers: [(name: String, folded: [UInt8])] = []
    private var knownHeaders: Set<[UInt8]> = []
    private var cookies: [EndCookie] = []
    private var knownCookies: Set<EndCookie> = []
    private var cookieNames: Set<String> = []
    private var hasPrivateCache = false

    /// Adds the settings of an upstream.
    /// - Parameter headersOfUsers: the headers that it sets from claims.
    mutating func add(
      _ settings: UpstreamSettings, headersOfUsers: [String], at path: NodePath, _ context: inout DecodingContext
    ) {
      upstreams += 1
      for name in headersOfUsers + settings.removedHeaders {
        let folded = SharedApplications.folded(name)
        if knownHeaders.insert(folded).inserted { headers.append((name, folded)) }
      }
      for cookie in settings.cookies.cookies where knownCookies.insert(cookie).inserted { cookies.append(cookie) }
      hasPrivateCache = hasPrivateCache || settings.cookies.hasPrivateCache
      let before = cookieNames.count
      cookieNames.formUnion(settings.cookies.cookies.map(\.name))
      // A list that is too long on its own has been reported.
      if before <= UnboundCookies.limit, cookieNames.count > UnboundCookies.limit,
        settings.cookies.cookies.count <= UnboundCookies.limit
      {
        let list = path.appending("end_cookies")
        context.report(
          at: list,
          "the upstreams of one address name \(cookieNames.count) cookies in end_cookies together, which hold for each",
          remedy: "write at most \(UnboundCookies.limit): only session cookies belong here")
      }
    }

    /// Completes the settings of an upstream by those of the others.
    func complete(_ settings: inout UpstreamSettings, identityHeaders: [String]) {
      guard upstreams > 1 else { return }
      let own = Set((settings.ownHeaders + settings.removedHeaders + identityHeaders).map(SharedApplications.folded))
      settings.removedHeaders += headers.filter { !own.contains($0.folded) }.map(\.name)
      // In one order for all, by which the gateway notes those that are not bound.
      settings.cookies.cookies = cookies
      settings.cookies.hasPrivateCache = hasPrivateCache
    }
  }

  /// A name in the spelling of `ForwardingRules.isSame`: all characters but letters and digits are one.
  private static func folded(_ name: String) -> [UInt8] {
    name.utf8.map { $0.isASCIILetterOrDigit ? $0.asciiLowercased : UInt8(ascii: "-") }
  }
}
