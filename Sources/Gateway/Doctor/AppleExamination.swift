internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore
internal import Operations

/// Examines the registration with Apple, locally and by calls to Apple.
struct AppleExamination {
  let apple: AppleSettings
  let proxy: ConnectProxy?
  let redirectURI: String

  /// The tolerated clock difference: beyond it, Apple may take our secrets for issued in the future, or we its tokens.
  private static let intolerableSeconds = 60.0
  private static let noticeableSeconds = 10.0
  private static let secretRemedy =
    "compare the clock (timedatectl), and apple.private_key_file with the .p8 file that Apple gave out"

  /// Runs the local checks, then those at Apple as far as it makes sense.
  /// - Parameter note: called with each finding.
  func run(on eventLoop: any EventLoop, _ note: (DoctorFinding) -> Void) async {
    if let broken = redirectURIProblem() { note(broken) }
    let key: ClientSecretKey
    do throws(ClientSecretKeyError) {
      key = try ClientSecretKey(contentsOfFile: apple.privateKeyFile)
      note(.ok("apple key", "\(apple.privateKeyFile) holds a P-256 private key"))
    } catch {
      note(.failure("apple key", error.message, error.remedy))
      return
    }
    let provider: AppleIdentityProvider
    let connection: AppleHTTPTransport
    do {
      connection = try await AppleHTTPTransport(
        AppleServer(apple.baseURL, apple, through: proxy), metrics: MetricsRegistry(version: "", startTime: .now()),
        on: eventLoop)
      provider = try AppleIdentityProvider(
        settings: apple, key: key,
        transport: { [connection] (request) async throws(AppleTransportError) in try await connection.send(request) },
        clock: { Date.now })
    } catch {
      note(.failure("apple", "\(error)", "correct apple.base_url; is the package ca-certificates installed?"))
      return
    }
    guard await secret(provider, note) else { return }
    guard await keySet(provider, note) else { return }
    guard await credentials(provider, note), redirectURIProblem() == nil else { return }
    note(await registration(provider, connection))
  }

  // MARK: Local checks

  /// The problem of a redirect URI that Apple never registers.
  private func redirectURIProblem() -> DoctorFinding? {
    AppleSettings.problems(of: apple, redirectURI: redirectURI).first.map { problem in
      .failure("redirect URI", "\(redirectURI): \(problem.key): \(problem.problem)", problem.remedy)
    }
  }

  private func secret(_ provider: AppleIdentityProvider, _ note: (DoctorFinding) -> Void) async -> Bool {
    do throws(ClientSecretMintError) {
      _ = try provider.mint.secret(for: apple.clientID)
      note(.ok("client secret", "signed for team \(apple.teamID) with key \(apple.keyID)"))
      return true
    } catch {
      note(.failure("client secret", error.message, Self.secretRemedy))
      return false
    }
  }

  // MARK: Checks at Apple

  private var way: String { proxy.map { ", through the proxy \($0)" } ?? "" }

  private var reachRemedy: String {
    apple.isApple
      ? "let this machine reach \(apple.baseURL): name server, firewall, apple.proxy"
      : "start the simulated Apple there (apple-simulator), or correct apple.base_url"
  }

  /// - Returns: whether Apple answers; otherwise further calls are pointless.
  private func keySet(_ provider: AppleIdentityProvider, _ note: (DoctorFinding) -> Void) async -> Bool {
    do throws(AppleKeySetError) {
      let report = try await provider.keySet.fetchNow()
      let count = report.keyIdentifiers.count
      note(.ok("key set", "\(count) usable key\(count == 1 ? "" : "s") at \(apple.baseURL)\(way)"))
      note(Self.clock(report.clockDifference(at: .now)))
      return true
    } catch {
      switch error {
      case .unreachable:
        let remedy =
          proxy.map { "let the proxy \($0) make tunnels to \(apple.baseURL), or correct apple.proxy" } ?? reachRemedy
        note(.failure("key set", error.message, remedy))
        return false
      default:
        note(.failure("key set", error.message, "try again; is something else answering at \(apple.baseURL)?"))
        return true
      }
    }
  }

  /// - Parameter difference: in seconds, positive where our clock is ahead.
  static func clock(_ difference: TimeInterval?) -> DoctorFinding {
    guard let difference else {
      return .warning("clock", "Apple's response has no Date", "make sure that the clock is set by NTP")
    }
    // Apple sends whole seconds.
    let seconds = difference.magnitude < 2 ? 0 : (difference.magnitude * 10).rounded() / 10
    let seen =
      seconds == 0 ? "agrees with Apple's" : "\(seconds) s \(difference > 0 ? "ahead of" : "behind") Apple's"
    let remedy = "set it: timedatectl set-ntp true"
    if difference.magnitude > intolerableSeconds { return .failure("clock", seen, remedy) }
    if difference.magnitude > noticeableSeconds { return .warning("clock", seen, remedy) }
    return .ok("clock", seen)
  }

  /// Requests the sign-in page: Apple refuses it for a redirect URI that the Services ID does not list. Nobody signs
  /// in, and the page is discarded.
  private func registration(_ provider: AppleIdentityProvider, _ connection: AppleHTTPTransport) async -> DoctorFinding
  {
    let subject = "redirect URI"
    let advice = "the Services ID must list it as a return URL, exactly like this"
    let page = provider.authorizationRequest(redirectURI: redirectURI, state: "doctor", nonce: "doctor")
    guard let head = HTTPRequest(page, baseURL: apple.baseURL) else {
      return .warning(subject, "\(redirectURI) was not compared with those of \(apple.clientID)", advice)
    }
    do throws(AppleTransportError) {
      let status = try await connection.send(AppleHTTPRequest(head: head)).status
      switch status {
      case 200..<400: return .ok(subject, "\(redirectURI) is registered for \(apple.clientID)")
      case 400, 401, 403:
        return .failure(
          subject,
          "Apple does not show its page for \(redirectURI) (\(status)): it is not registered for \(apple.clientID)",
          "\(advice): Identifiers, Services IDs, Sign in with Apple, Configure")
      default:
        return .warning(subject, "\(redirectURI) could not be compared: Apple answered \(status)", advice)
      }
    } catch {
      return .warning(subject, "\(redirectURI) could not be compared: Apple's page did not come", advice)
    }
  }

  /// Checks the Services ID, then each App ID. Accepted IDs help to explain refused ones, so those are reported last.
  /// After an error at Apple no further ID is checked.
  /// - Returns: whether Apple accepts the Services ID.
  private func credentials(_ provider: AppleIdentityProvider, _ note: (DoctorFinding) -> Void) async -> Bool {
    var accepted: String?
    var refused: [(clientID: String, refusal: OAuthError)] = []
    defer {
      for (clientID, refusal) in refused {
        note(
          .failure(
            "credentials", "\(clientID): \(refusal.message)", remedy(refusal, clientID, accepted: accepted)))
      }
    }
    for clientID in [apple.clientID] + apple.nativeClientIDs {
      let subject = "credentials"
      switch await provider.tokens.checkCredentials(clientID: clientID) {
      case .accepted:
        note(.ok(subject, "Apple accepts \(clientID) with team \(apple.teamID) and key \(apple.keyID)"))
        accepted = accepted ?? clientID
      case .misconfigured(let refusal):
        refused.append((clientID, refusal))
      case .appleTrouble(let trouble):
        let remedy = "try again; is something else answering at \(apple.baseURL)?"
        note(.failure(subject, "\(clientID): \(trouble.message)", remedy))
        return false
      case .notSent(let reason):
        note(.failure(subject, "Apple was not reached: \(reason)", reachRemedy))
        return false
      case .noSecret(let problem):
        note(.failure(subject, problem.message, Self.secretRemedy))
        return false
      }
    }
    return accepted.map { $0.utf8.elementsEqual(apple.clientID.utf8) } ?? false
  }

  /// - Parameter accepted: a client ID that Apple accepts with the same team and key, which are therefore valid.
  private func remedy(_ refusal: OAuthError, _ clientID: String, accepted: String?) -> String {
    guard let accepted else { return refusal.remedy }
    let isWeb = clientID.utf8.elementsEqual(apple.clientID.utf8)
    return "team and key are good, as \(accepted) is; make sure of \(clientID) in "
      + (isWeb
        ? "apple.client_id, and that this Services ID is configured for Sign in with Apple with the key's primary App "
          + "ID"
        : "apple.native_client_ids, and that Sign in with Apple is enabled for that App ID and its primary App ID is "
          + "the key's")
  }
}

extension HTTPRequest {
  /// A browser's request for the sign-in page; nil if its address is not below the base URL.
  fileprivate init?(_ page: AuthorizationRequest, baseURL: String) {
    let parts = baseURL.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: true)
    guard parts.count == 2, page.url.utf8.starts(with: baseURL.utf8) else { return nil }
    self.init(
      method: .get,
      scheme: parts[0].last == UInt8(ascii: ":") ? String(decoding: parts[0].dropLast(), as: UTF8.self) : nil,
      authority: String(decoding: parts[1], as: UTF8.self), path: String(page.url.dropFirst(baseURL.count)),
      headerFields: [.accept: "text/html"])
  }
}
