internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import Secrets
internal import Sessions
internal import WebFormats

/// The state of one sign-in, in a sealed cookie: for ten minutes, in one browser. The cookie stays an hour, so that
/// for a later response of Apple the destination is still known, and the owner of the name that it brings.
///
/// The identifier is public (part of the cookie's name and of `state`). A sign-in is verified by the secret in `state`,
/// which is compared with the one in this browser's cookie.
struct SignInState: Equatable {
  /// 16 hexadecimal digits.
  let identifier: String
  /// 32 hexadecimal digits.
  let secret: String
  /// 32 hexadecimal digits; comes back in the identity token.
  let nonce: String
  /// The final destination.
  private(set) var destination: Destination
  /// The session that this sign-in replaces.
  private(set) var replacing: PublicSessionID?
  /// Whether a page of another site began it. Such a sign-in never displaces those begun on our own pages.
  let isCrossSite: Bool
  /// The time when it began, in milliseconds since 1970.
  let began: Int64

  /// The final destination of a sign-in.
  enum Destination: Equatable {
    /// A path on our own origin.
    case page(String)
    /// A native app; the challenge of its verifier has 32 bytes.
    case app(AppReturnTarget, challenge: [UInt8])
    /// Another host.
    case host(HostVisit)

    /// The path to go on to.
    var path: String {
      switch self {
      case .page(let path): path
      case .app: "/"
      case .host(let visit): visit.returnTo
      }
    }

    /// Whether a native app began the sign-in. It has no part in the sessions of the browser.
    var isApp: Bool { if case .app = self { true } else { false } }

    /// The front page of the same host. An app has none.
    var frontPage: Destination {
      switch self {
      case .page: .page("/")
      case .app: self
      case .host(let visit): .host(visit.returning(to: "/"))
      }
    }
  }

  /// The path to go on to, on whatever host.
  var returnTo: String { destination.path }

  /// The longest time that a sign-in may take, in milliseconds.
  static let lifetime: Int64 = 600_000
  /// The time after its beginning for which its cookie is kept, in milliseconds.
  private static let kept: Int64 = 3_600_000
  /// The longest path of a sign-in that another site began, in bytes. Cookies are sent with every request.
  static let longestCrossSitePath = ReturnTarget.maximumCrossSiteLength

  init(to destination: Destination, replacing: PublicSessionID?, isCrossSite: Bool = false, now: Int64) {
    identifier = Self.randomHexadecimal(bytes: 8)
    secret = Self.randomHexadecimal(bytes: 16)
    nonce = Self.randomHexadecimal(bytes: 16)
    let losesPath = Self.losesPath(destination.path, isCrossSite: isCrossSite)
    self.destination = losesPath ? destination.frontPage : destination
    self.replacing = replacing
    self.isCrossSite = isCrossSite
    began = now
  }

  /// Whether a sign-in would lead to the front page instead of this path, because another site began it.
  static func losesPath(_ path: String, isCrossSite: Bool) -> Bool {
    isCrossSite && path.utf8.count > longestCrossSitePath
  }

  /// The same sign-in, replacing another session.
  /// - Parameter keepsPath: whether it keeps its destination; the front page otherwise.
  func replacing(_ session: PublicSessionID, keepsPath: Bool) -> SignInState {
    var signIn = self
    signIn.replacing = session
    return keepsPath ? signIn : signIn.toFrontPage
  }

  /// The same sign-in, leading to the front page.
  var toFrontPage: SignInState {
    var signIn = self
    signIn.destination = destination.frontPage
    return signIn
  }

  /// The `state` that Apple returns: the identifier, then the secret.
  var state: String { identifier + secret }

  /// The identifier in a `state`; nil if that does not have our format.
  static func identifier(inState state: String) -> String? {
    let bytes = Array(state.utf8)
    guard bytes.count == 48, bytes.allSatisfy(Hex.isLowercaseDigit) else { return nil }
    return String(decoding: bytes[..<16], as: UTF8.self)
  }

  /// Whether a `state` is that of this sign-in, compared in constant time.
  func isMeant(by state: String) -> Bool {
    ConstantTime.equal(self.state.utf8, state.utf8)
  }

  /// The time when it expires.
  var expires: Date { Date(millisecondsSince1970: began &+ Self.lifetime) }

  private static func randomHexadecimal(bytes: Int) -> String {
    Hex.text(SystemRandom.bytes(bytes))
  }
}

// MARK: The cookie

extension SignInState {
  ///     began (8) | secret (32) | nonce (32) | replacing: length (1) and handle (0 or 16)
  ///       | challenge: length (1) and hash (0 or 32) | path, or the app's address
  ///
  /// The first bit of the first length is set if another site began it. The second length is 255 for another host, and
  /// the visit follows.
  private var bytes: [UInt8] {
    let handle = replacing?.bytes ?? []
    var bytes = withUnsafeBytes(of: began.bigEndian) { Array($0) }
    bytes += secret.utf8
    bytes += nonce.utf8
    bytes.append(UInt8(handle.count) | (isCrossSite ? Self.crossSiteBit : 0))
    bytes += handle
    switch destination {
    case .page(let path): bytes += [0] + path.utf8
    case .app(let target, let challenge): bytes += [UInt8(challenge.count)] + challenge + target.address.utf8
    case .host(let visit): bytes += [Self.hostMark] + visit.bytes
    }
    return bytes
  }

  private static let crossSiteBit: UInt8 = 0x80
  /// The value for another host instead of the length of a challenge.
  private static let hostMark: UInt8 = 255

  private init?(identifier: String, bytes: [UInt8]) {
    var rest = bytes[...]
    func take(_ count: Int) -> [UInt8] {
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    guard bytes.count >= 74 else { return nil }
    self.identifier = identifier
    began = take(8).reduce(0) { $0 << 8 | Int64($1) }
    secret = String(decoding: take(32), as: UTF8.self)
    nonce = String(decoding: take(32), as: UTF8.self)
    let length = take(1)[0]
    isCrossSite = length & Self.crossSiteBit != 0
    let handle = take(Int(length & ~Self.crossSiteBit))
    replacing = PublicSessionID(bytes: handle)
    guard handle.isEmpty || replacing != nil, let challengeCount = take(1).first else { return nil }
    if challengeCount == Self.hostMark {
      guard let visit = HostVisit(bytes: rest) else { return nil }
      destination = .host(visit)
      return
    }
    let challenge = take(Int(challengeCount))
    if challenge.isEmpty {
      destination = .page(String(decoding: rest, as: UTF8.self))
    } else if challenge.count == 32, let target = AppReturnTarget(restoring: Array(rest)) {
      destination = .app(target, challenge: challenge)
    } else {
      return nil
    }
  }

  /// The attributes of cookies that are needed with Apple's answer, in addition to the value and `Max-Age`.
  /// `SameSite=None`, because that answer is a POST from another site.
  static let cookieAttributes = "Path=/; Secure; HttpOnly; SameSite=None"

  /// The whole `Set-Cookie`.
  /// - Parameter age: how long ago it began, in milliseconds.
  func setCookie(_ keyring: SessionKeyring, age: Int64 = 0) throws(SealError) -> String {
    let end = Date(millisecondsSince1970: began &+ Self.kept)
    let value = try keyring.sealText(bytes, for: .attempt, context: Array(identifier.utf8), expires: end)
    let maxAge = max(0, Self.kept - max(0, age)) / 1_000
    return "\(keyring.cookies.attempts)\(identifier)=\(value); \(Self.cookieAttributes); Max-Age=\(maxAge)"
  }

  /// The `Set-Cookie` that removes a sign-in's cookie.
  static func clearCookie(_ identifier: String, _ names: CookieNames) -> String {
    "\(names.attempts)\(identifier)=; \(cookieAttributes); Max-Age=0"
  }

  /// The identifiers of the sign-ins that have a cookie, each once.
  static func identifiers(in cookies: RequestCookies, _ names: CookieNames) -> [String] {
    cookies.identifiers(after: names.attempts)
  }

  /// Opens the cookie of a sign-in; nil without one.
  static func open(
    _ identifier: String, in cookies: RequestCookies, _ keyring: SessionKeyring, now: Int64
  ) throws(SealError) -> SignInState? {
    guard let signIn = try openKept(identifier, in: cookies, keyring, now: now) else { return nil }
    guard Date(millisecondsSince1970: now) < signIn.expires else { throw .expired }
    return signIn
  }

  /// Opens the cookie of a sign-in that may have expired: it only says where its user is to go.
  static func openKept(
    _ identifier: String, in cookies: RequestCookies, _ keyring: SessionKeyring, now: Int64
  ) throws(SealError) -> SignInState? {
    guard let value = cookies.first(keyring.cookies.attempts + identifier) else { return nil }
    let bytes = try keyring.openText(
      Array(value.utf8), for: .attempt, context: Array(identifier.utf8), now: Date(millisecondsSince1970: now))
    guard let signIn = SignInState(identifier: identifier, bytes: bytes) else { throw .refused }
    return signIn
  }
}
