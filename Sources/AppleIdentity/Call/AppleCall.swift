internal import FoundationEssentials
internal import HTTPTypes
internal import Secrets
internal import WebFormats

/// One authenticated call to Apple: mints the secret, sends the form, and classifies the answer.
struct AppleCall: Sendable {
  let origin: AppleOrigin
  let transport: AppleTransport
  let mint: ClientSecretMint
  let clock: AppleClock

  /// The uninterpreted outcome of a call.
  enum Outcome: Sendable {
    /// 200, with the body as it is.
    case succeeded(body: [UInt8])
    /// 400, 401 or 403 with one of the documented error codes.
    case refused(OAuthError, status: Int)
    case trouble(AppleServiceError)
    /// Cannot have reached Apple.
    case notSent(reason: String)
    /// We could not make a secret.
    case noSecret(ClientSecretMintError)
  }

  /// - Parameters:
  ///   - form: the fields in addition to `client_id` and `client_secret`.
  ///   - bearer: an access token, if the endpoint needs one.
  func post(
    _ path: String, clientID: String, form: [(name: String, value: String)], bearer: String? = nil
  ) async -> Outcome {
    let secret: ClientSecret
    do throws(ClientSecretMintError) {
      secret = try mint.secret(for: clientID)
    } catch {
      return .noSecret(error)
    }
    let credentials = [(name: "client_id", value: clientID), (name: "client_secret", value: secret.exposed)]
    var request = origin.post(path, form: credentials + form)
    if let bearer { request.head.headerFields[.authorization] = "Bearer \(bearer)" }
    do throws(AppleTransportError) {
      return sort(try await transport(request))
    } catch {
      switch error {
      case .notSent(let reason): return .notSent(reason: LogText.sanitized(reason))
      case .unanswered(let reason): return .trouble(.unanswered(reason: LogText.sanitized(reason)))
      }
    }
  }

  /// Reads the JSON object that an endpoint of Apple's answers with.
  static func object(of body: [UInt8]) throws(StrictJSONError) -> [String: StrictJSON] {
    try StrictJSON.object(body, maximumBytes: 64 * 1024, maximumDepth: 8)
  }

  private func sort(_ response: AppleHTTPResponse) -> Outcome {
    switch response.status {
    case 200: return .succeeded(body: response.body)
    case 429: return .trouble(.throttled(pause: RetryAfter.pause(response.retryAfter, date: response.date)))
    case 400, 401, 403: break
    default: return .trouble(.status(response.status))
    }
    guard let object = try? Self.object(of: response.body) else {
      return .trouble(.malformed(reason: "status \(response.status) without a JSON object"))
    }
    guard let name = object["error"]?.text, let code = OAuthError.Code(rawValue: name) else {
      return .trouble(.malformed(reason: "status \(response.status) with an error that is not documented"))
    }
    let description = object["error_description"]?.text.map { LogText.sanitized($0) }
    let error = OAuthError(code: code, description: description, clockDifference: wrongClock(response))
    return .refused(error, status: response.status)
  }

  /// The seconds by which our clock is ahead of that of a response, or behind (negative), where that makes our secrets
  /// invalid: issued in the future, or expired.
  private func wrongClock(_ response: AppleHTTPResponse) -> Int? {
    guard let date = response.date.flatMap({ HTTPDate.parse($0.utf8) }) else { return nil }
    let difference = clock().timeIntervalSince1970 - Double(date)
    guard difference > ClientSecretMint.backdating || difference < -ClientSecretMint.remainder else { return nil }
    return Int(exactly: difference.rounded())
  }
}
