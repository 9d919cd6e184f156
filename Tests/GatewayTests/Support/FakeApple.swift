import AppleIdentity
import Crypto
import FoundationEssentials
import HTTPTypes
import Sessions
import Synchronization
import WebFormats

@testable import Gateway

/// A clock that does not advance until the test moves it.
final class TestClock: Sendable {
  private let time = Mutex(Date(timeIntervalSince1970: 1_790_000_000))

  var now: Date { time.withLock { $0 } }
  var milliseconds: Int64 { now.wallClock }
  func advance(_ seconds: Double) { time.withLock { $0 = $0.addingTimeInterval(seconds) } }
}

/// Answers the token endpoint in Apple's place, and counts.
final class FakeApple: Sendable {
  enum Answer: Sendable {
    case good, revoked, ourMistake, trouble, notSent
    /// No answer in time.
    case silence
    /// A page in place of an answer, as of a firewall.
    case page
    /// 429 with `Retry-After`.
    case throttled(retryAfter: String)
    case goodWithToken(String)
    /// Good, with this identity token.
    case goodWithIdentityToken(String)
    /// Good, with an identity token of this user that was issued at this time.
    case goodIssued(Date, of: String)
    /// Good, with an identity token of this user for the sign-in of this nonce, issued now.
    case goodSignIn(of: String, nonce: String)
  }

  private let state: Mutex<(answer: Answer, calls: Int)>
  /// Runs before the next answer.
  private let beforeAnswer = Mutex<(@Sendable () async -> Void)?>(nil)

  private let key = P256.Signing.PrivateKey()
  /// `transfer_sub` of its identity tokens; nil for none.
  let transferSubject = Mutex<String?>(nil)

  init(_ answer: Answer = .good) { state = Mutex((answer, 0)) }

  private let refusesMigration = Mutex(false)

  /// Knows no user of `/auth/usermigrationinfo` from now on.
  func refuseMigration() { refusesMigration.withLock { $0 = true } }

  /// Answers the next request only after this.
  func holdAnswer(until work: @escaping @Sendable () async -> Void) { beforeAnswer.withLock { $0 = work } }

  var calls: Int { state.withLock { $0.calls } }
  func answer(_ answer: Answer) { state.withLock { $0.answer = answer } }

  /// A relying party that speaks to it.
  /// - Parameters:
  ///   - key: signs client secrets.
  ///   - keyFile: the path that the settings name; it is not read.
  ///   - ownClock: the relying party's own clock, if it is another one.
  func provider(
    _ clock: TestClock, keyID: String = "ABC123DEFG", key: P256.Signing.PrivateKey = P256.Signing.PrivateKey(),
    keyFile: String = "", ownClock: TestClock? = nil
  ) throws -> AppleIdentityProvider {
    try AppleIdentityProvider(
      settings: AppleSettings(clientID: "web", teamID: "DEF123GHIJ", keyID: keyID, privateKeyFile: keyFile),
      key: ClientSecretKey(pem: Array(key.pemRepresentation.utf8)),
      transport: { (request: AppleHTTPRequest) async throws(AppleTransportError) -> AppleHTTPResponse in
        let answer = self.state.withLock { state in
          state.calls += 1
          return state.answer
        }
        await self.beforeAnswer.withLock { $0.take() }?()
        switch answer {
        case .good where request.head.path == "/auth/keys": return Self.json(200, Self.keySet)
        case .good where request.head.path == "/auth/usermigrationinfo" && self.refusesMigration.withLock({ $0 }):
          return Self.json(400, #"{"error":"invalid_request"}"#)
        case .good where request.head.path == "/auth/usermigrationinfo":
          return Self.json(200, #"{"transfer_sub":"000.transfer","sub":"002.new"}"#)
        case .good: return Self.json(200, #"{"access_token":"a"}"#)
        case .goodWithToken(let token):
          return Self.json(200, #"{"access_token":"a","refresh_token":"\#(token)"}"#)
        case .goodWithIdentityToken(let token):
          return Self.json(200, #"{"access_token":"a","id_token":"\#(token)"}"#)
        case .goodIssued where request.head.path == "/auth/keys": return Self.json(200, self.ownKeySet)
        case .goodIssued(let date, let user):
          return Self.json(200, #"{"access_token":"a","id_token":"\#(self.identityToken(of: user, issued: date))"}"#)
        case .goodSignIn where request.head.path == "/auth/keys": return Self.json(200, self.ownKeySet)
        case .goodSignIn(let user, let nonce):
          let token = self.identityToken(of: user, issued: clock.now, nonce: nonce)
          return Self.json(200, #"{"access_token":"a","id_token":"\#(token)"}"#)
        case .revoked: return Self.json(400, #"{"error":"invalid_grant"}"#)
        case .ourMistake: return Self.json(400, #"{"error":"invalid_client"}"#)
        case .trouble: return AppleHTTPResponse(status: 503)
        case .page: return AppleHTTPResponse(status: 403, contentType: "text/html", body: Array("<html>".utf8))
        case .throttled(let retryAfter): return AppleHTTPResponse(status: 429, retryAfter: retryAfter)
        case .notSent: throw .notSent(reason: "refused")
        case .silence: throw .unanswered(reason: "no whole response in time")
        }
      }, clock: { (ownClock ?? clock).now })
  }

  /// With the key of RFC 7515, A.3.
  private static let keySet = """
    {"keys":[{"kty":"EC","kid":"a","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
    """

  /// With the key that it signs identity tokens with.
  private var ownKeySet: String {
    let point = Array(key.publicKey.rawRepresentation)
    return #"{"keys":[{"kty":"EC","kid":"b","crv":"P-256","x":"\#(Base64URL.text(point[..<32]))","#
      + #""y":"\#(Base64URL.text(point[32...]))"}]}"#
  }

  /// An identity token of this user, signed with the key of ``ownKeySet``.
  func identityToken(of user: String, issued: Date, nonce: String? = nil) -> String {
    let seconds = Int(issued.timeIntervalSince1970)
    let nonce = nonce.map { #","nonce":"\#($0)""# } ?? ""
    let transfer = transferSubject.withLock { $0 }.map { #","transfer_sub":"\#($0)""# } ?? ""
    let payload =
      #"{"iss":"https://appleid.apple.com","aud":"web","sub":"\#(user)","iat":\#(seconds),"exp":\#(seconds + 600)"#
      + "\(nonce)\(transfer)}"
    let signed = Base64URL.text(#"{"alg":"ES256","kid":"b"}"#.utf8) + "." + Base64URL.text(payload.utf8)
    let signature = try? key.signature(for: SHA256.hash(data: Array(signed.utf8)))
    return signed + "." + Base64URL.text(signature.map { Array($0.rawRepresentation) } ?? [])
  }

  private static func json(_ status: Int, _ text: String) -> AppleHTTPResponse {
    AppleHTTPResponse(status: status, contentType: "application/json", date: nil, body: Array(text.utf8))
  }
}
