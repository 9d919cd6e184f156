internal import DataPlane
internal import HTTPTypes
internal import Sessions
internal import WebFormats

/// Removes the data of an account from a browser: the session cookies of the applications, and the cache. Part of the
/// response that signs a user out, refuses a banned one, or signs another account in.
struct BrowserReset: Sendable {
  /// `Set-Cookie` values that delete the cookies.
  private let cookies: [String]
  /// The value of `Clear-Site-Data`; nil for none.
  private let clearedData: String?
  private let keyring: SessionKeyring

  /// - Parameters:
  ///   - cookies: those of all upstreams.
  ///   - clearedData: `session.clear_site_data`.
  ///   - isSecure: whether the site is `https:`.
  init(_ cookies: [EndCookie], clearedData: [SiteData], isSecure: Bool, _ keyring: SessionKeyring) {
    var seen: [EndCookie] = []
    for cookie in cookies where !seen.contains(cookie) { seen.append(cookie) }
    self.cookies = seen.map { $0.deletion(isSecure: isSecure) }
    self.clearedData = clearedData.isEmpty ? nil : clearedData.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    self.keyring = keyring
  }

  /// Adds the fields to a response.
  func apply(to response: inout ControlResponse) {
    for cookie in cookies { response.setCookie(cookie) }
    if let clearedData { response.head.headerFields[.clearSiteData] = clearedData }
  }

  /// Stores the account in a cookie, and resets the browser if another account was signed in before.
  func noteSignIn(of subject: Subject, _ request: ControlRequest, in response: inout ControlResponse) {
    let previous = RequestCookies(request.head.headerFields).all(keyring.cookies.lastAccount)
    if previous.contains(where: { !keyring.isAccountMark($0, of: subject) }) { apply(to: &response) }
    let mark = keyring.accountMark(of: subject)
    response.setCookie("\(keyring.cookies.lastAccount)=\(mark); \(SignInState.cookieAttributes)")
  }
}

extension HTTPField.Name {
  static let clearSiteData = HTTPField.Name("Clear-Site-Data")!
}
