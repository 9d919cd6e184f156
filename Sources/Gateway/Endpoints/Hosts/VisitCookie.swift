internal import FoundationEssentials
internal import Secrets
internal import Sessions
internal import WebFormats

/// The cookie of a visit to the sign-in of `public_url`: a secret that binds the visit to the browser that began it.
struct VisitCookie: Equatable {
  /// 12 hexadecimal digits of the time in milliseconds, and 4 random ones, so that names sort by time.
  let name: String
  /// 32 hexadecimal digits.
  let secret: String

  /// The largest number of visits of one browser to one host at once.
  static let mostAtOnce = 5
  /// The beginning of the cookie's name, before ``name``.
  private let prefix: String

  /// Creates a cookie with random values.
  init(now: Int64, _ names: CookieNames) {
    prefix = names.visits
    name = Hex.text(withUnsafeBytes(of: now.bigEndian) { Array($0.suffix(6)) } + SystemRandom.bytes(2))
    secret = Hex.text(SystemRandom.bytes(16))
  }

  private init(name: String, secret: String, prefix: String) {
    self.prefix = prefix
    self.name = name
    self.secret = secret
  }

  /// The visit cookies of a request.
  static func all(in cookies: RequestCookies, _ names: CookieNames) -> [VisitCookie] {
    all(in: cookies, prefix: names.visits)
  }

  private static func all(in cookies: RequestCookies, prefix: String) -> [VisitCookie] {
    cookies.identifiers(after: prefix).map { name in
      VisitCookie(name: name, secret: cookies.first(prefix + name) ?? "", prefix: prefix)
    }
  }

  /// The oldest cookies, to be removed so that the limit holds with this one.
  func surplus(in cookies: RequestCookies) -> [VisitCookie] {
    let others = Self.all(in: cookies, prefix: prefix).sorted { $0.name < $1.name }
    return Array(others.dropLast(Self.mostAtOnce - 1))
  }

  /// The whole `Set-Cookie`. `SameSite=Lax`: the redirect that ends a visit is a top-level navigation.
  var setting: String { setCookie(secret, maxAge: Self.kept.components.seconds) }

  /// The time for which the cookie is kept: the sign-in may begin until the visit is over, and has its own time then.
  private static let kept = HostVisit.lifetime + .milliseconds(SignInState.lifetime) + HostArrival.lifetime

  /// The `Set-Cookie` that removes the cookie.
  var clearing: String { setCookie("", maxAge: 0) }

  private func setCookie(_ value: String, maxAge: Int64) -> String {
    "\(prefix)\(name)=\(value); \(SessionCookie.attributes); Max-Age=\(maxAge)"
  }
}
