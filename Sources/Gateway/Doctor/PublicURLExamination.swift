internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import NIOCore
internal import Pages
internal import WebFormats

/// Examines whether requests to `public_url` reach this gateway, with `Host` and path as they were sent, and whether
/// its answers come back. Sends two requests without credentials, to endpoints that have no effect then, and follows
/// no redirects.
///
/// No finding is a failure: on this machine the address may lead elsewhere than in browsers (split DNS, a router that
/// does not lead back in), and before the first start nothing answers.
struct PublicURLExamination {
  let origin: PublicOrigin
  let prefix: String

  private static let subject = "public URL"
  /// Part of an answer that a finding shows, in characters: another service may send anything.
  private static let shownLength = 200

  /// The endpoints that are asked, in turn. On `public_url`, `account` answers that nobody is signed in, with the path
  /// of the sign-in below `path_prefix`; for an alias or a `[[host]]` it redirects there. But a gateway answers the
  /// same on paths of the application, so a proxy that changes paths would not be noticed. `notifications`, which takes
  /// POST only, answers 405 on its own path alone.
  static let endpoints = [GatewayEndpoint.account, .notifications]

  /// Sends the requests, the second one only if the first was answered as expected.
  func run(on eventLoop: any EventLoop) async -> DoctorFinding {
    let client: OriginClient
    do {
      client = try await origin.client(on: eventLoop)
    } catch {
      return .warning(Self.subject, "\(origin): \(error)", "is the package ca-certificates installed?")
    }
    for endpoint in Self.endpoints {
      let request = HTTPRequest(
        method: .get, scheme: nil, authority: nil, path: endpoint.path(below: prefix),
        headerFields: [.accept: "application/json", .userAgent: "cordon-doctor"])
      do throws(OriginError) {
        let response = try await client.send(request, body: [])
        if let problem = problem(of: response.head, response.body, to: endpoint) { return problem }
      } catch {
        return unanswered(error)
      }
    }
    return .ok(Self.subject, "\(origin) leads to a gateway with this public_url and path_prefix")
  }

  // MARK: Answers

  /// The problem of an answer; nil if it is the gateway's own answer to this very request.
  func problem(of head: HTTPResponse, _ body: [UInt8], to endpoint: GatewayEndpoint) -> DoctorFinding? {
    let url = "\(origin)\(endpoint.path(below: prefix))"
    guard let answer = GatewayFailure(head, body) else { return foreign(head, url) }
    switch (endpoint, answer.failure) {
    case (.account, .signInRequired):
      let signIn = GatewayEndpoint.signIn.path(below: prefix)
      guard let other = answer.signIn, other.utf8.elementsEqual(signIn.utf8) else {
        return warning(
          "a gateway answers \(url), but with another path_prefix: it signs in at \(shown(answer.signIn ?? "no path"))",
          "reload the configuration, or make DNS and the proxy in front lead to this gateway")
      }
      return cached(head, url)
    case (.notifications, .methodNotAllowed):
      return cached(head, url)
    case (_, .misdirected):
      return warning(
        "a gateway answers \(url), but not for the host \(origin.authority) (421)",
        "let the proxy in front forward Host unchanged, and reload the configuration")
    case (_, let failure) where failure.status >= 500:
      return warning(
        "the gateway answers \(url) with \(failure.status) (\(failure.rawValue))",
        "look at its log, and run doctor again")
    case (_, let failure):
      return warning(
        "a gateway answers \(url) as it answers another path: \(failure.status) (\(failure.rawValue))",
        "let the proxy in front forward paths below \(prefix)/ unchanged")
    }
  }

  /// The problem of an answer that a cache has given: one that follows the standard says so by `Age` (RFC 9111, 5.1).
  /// Some caches add `Age: 0` to answers that they have just received.
  private func cached(_ head: HTTPResponse, _ url: String) -> DoctorFinding? {
    guard let age = head.headerFields[.age], !age.utf8.elementsEqual("0".utf8) else { return nil }
    return warning(
      "a cache in front of the gateway answers \(url) (Age: \(shown(age))), although the gateway forbids it",
      "let it obey Cache-Control, or pass on everything below \(prefix)/")
  }

  /// The problem of an answer that no gateway has given.
  private func foreign(_ head: HTTPResponse, _ url: String) -> DoctorFinding {
    let server = head.headerFields[.server].map { " (Server: \(shown($0)))" } ?? ""
    let seen = "\(url) answers \(head.status.code)\(server)"
    if head.status.kind == .redirection, let location = head.headerFields[.location] {
      guard location.utf8.elementsEqual(url.utf8) else {
        return warning(
          "\(seen) and redirects to \(shown(location))",
          "make DNS lead to this gateway, and let the proxy in front forward requests to it instead")
      }
      return warning(
        "\(seen) and redirects to itself",
        "let the proxy in front forward Host unchanged, and not to a listener with redirect = true")
    }
    if [502, 503, 504].contains(head.status.code) {
      return warning(
        "\(seen), not from this gateway",
        "start the gateway and run doctor again; if it runs, correct its address in the proxy in front")
    }
    return warning(
      "\(seen), which is no answer of a gateway",
      "make DNS and the proxy in front lead to this gateway, and let the proxy forward paths below \(prefix)/ and "
        + "return the answers unchanged")
  }

  /// The finding where there is no answer.
  private func unanswered(_ error: OriginError) -> DoctorFinding {
    switch error {
    case .notSent(let reason):
      warning(
        "\(origin) was not reached: \(reason)",
        "start the gateway and run doctor again; if it runs, correct DNS, the proxy in front or its certificate")
    case .unanswered(let reason):
      warning(
        "\(origin) gave no answer that can be used: \(reason)",
        "make DNS and the proxy in front lead to this gateway, and run doctor again")
    }
  }

  private func warning(_ seen: String, _ remedy: String) -> DoctorFinding { .warning(Self.subject, seen, remedy) }

  private func shown(_ text: String) -> String { String(text.prefix(Self.shownLength)) }
}

/// The JSON form of a failure, as a gateway sends it to programs: `error`, `message` and `request_id`, of which the
/// first is one of ours with its own status code.
private struct GatewayFailure {
  let failure: PageFailure
  /// The path of the sign-in page, where signing in would help.
  let signIn: String?

  /// Nil for the answer of another service.
  init?(_ head: HTTPResponse, _ body: [UInt8]) {
    guard let members = try? StrictJSON.object(body, maximumBytes: 8_192, maximumDepth: 2),
      let failure = members["error"]?.text.flatMap({ PageFailure(rawValue: $0) }),
      failure.status == head.status.code, members["message"]?.text != nil, members["request_id"]?.text != nil
    else { return nil }
    self.failure = failure
    signIn = members["sign_in"]?.text
  }
}
