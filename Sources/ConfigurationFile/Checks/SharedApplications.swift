import DataPlane
import Sessions
import WebFormats

/// Makes settings hold for all upstreams of one application, which may have several, as for another timeout on some
/// paths: a header that clients must not send by one of them, they must not send by another, and a session cookie that
/// is bound to an account by one of them is bound by all.
///
/// Headers that are set from claims are removed by every upstream of the address, whatever `host` it states: who
/// somebody is must not be said by a client of a server that believes it.
enum SharedApplications {
  /// - Parameter upstreams: the indexes of `[[upstreams]]` in the document.
  static func unite(_ configuration: inout Configuration, upstreams: [Int], _ context: inout DecodingContext) {
    let paths = ForwardingChecks.paths(of: configuration, upstreams)
    let all = paths.map { $0.0 }
    let first = UpstreamApplications(all).first
    let removed = removedHeaders(of: all, applications: first, configuration.identityHeaders)
    var applications: [Int: Application] = [:]
    for (application, (settings, path)) in zip(first, paths) {
      applications[application, default: Application()].add(settings, at: path, &context)
    }
    complete(&configuration.upstream, by: applications[first[0]], removed[0])
    for index in configuration.upstreams.indices {
      complete(&configuration.upstreams[index], by: applications[first[index + 1]], removed[index + 1])
    }
  }

  private static func complete(_ settings: inout UpstreamSettings, by application: Application?, _ removed: [String]) {
    settings.removedHeaders += removed
    application?.complete(&settings)
  }

  /// The headers that each upstream has to remove besides its own, because of the others.
  private static func removedHeaders(
    of upstreams: [UpstreamSettings], applications: [Int], _ identity: IdentityHeaderSettings
  ) -> [[String]] {
    let addresses = UpstreamApplications(upstreams, separatesHosts: false).first
    var servers: [Int: Server] = [:]
    for (place, settings) in upstreams.enumerated() {
      let own = identity.upstreams.first { UpstreamChecks.isSame($0.upstream, settings.name) }
      let ofUsers = (own?.headers ?? []).filter { !$0.value.claims.isEmpty }.map(\.name)
      servers[addresses[place], default: Server()].add(settings, headersOfUsers: ofUsers, of: applications[place])
    }
    let ofAll = identity.headers.map(\.name)
    return upstreams.indices.map { place in
      servers[addresses[place]]?.headers(for: upstreams[place], of: applications[place], besides: ofAll) ?? []
    }
  }

  /// The headers that the upstreams of one address remove.
  private struct Server {
    private var headers: [Header] = []
    private var places: [[UInt8]: Int] = [:]

    private struct Header {
      let name: String
      let folded: [UInt8]
      /// Whether one of the upstreams sets it from a claim.
      var isOfUsers = false
      /// The applications that it is removed for.
      var applications: Set<Int> = []
    }

    mutating func add(_ settings: UpstreamSettings, headersOfUsers: [String], of application: Int) {
      for name in headersOfUsers { headers[place(of: name)].isOfUsers = true }
      for name in settings.removedHeaders { headers[place(of: name)].applications.insert(application) }
    }

    private mutating func place(of name: String) -> Int {
      let folded = SharedApplications.folded(name)
      if let place = places[folded] { return place }
      places[folded] = headers.count
      headers.append(Header(name: name, folded: folded))
      return headers.count - 1
    }

    /// Those that an upstream does not name itself.
    func headers(for settings: UpstreamSettings, of application: Int, besides others: [String]) -> [String] {
      let own = Set((settings.ownHeaders + settings.removedHeaders + others).map(SharedApplications.folded))
      return headers.filter { header in
        (header.isOfUsers || header.applications.contains(application)) && !own.contains(header.folded)
      }.map(\.name)
    }
  }

  /// The cookies and the private responses that the upstreams of one application share.
  private struct Application {
    private var upstreams = 0
    private var cookies: [EndCookie] = []
    private var knownCookies: Set<EndCookie> = []
    private var cookieNames: Set<String> = []
    private var hasPrivateCache = false

    /// Adds the settings of an upstream.
    mutating func add(_ settings: UpstreamSettings, at path: NodePath, _ context: inout DecodingContext) {
      upstreams += 1
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
          "the upstreams of one application name \(cookieNames.count) cookies in end_cookies together, which hold for "
            + "each",
          remedy: "write at most \(UnboundCookies.limit): only session cookies belong here")
      }
    }

    /// Completes the settings of an upstream by those of the others.
    func complete(_ settings: inout UpstreamSettings) {
      guard upstreams > 1 else { return }
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
