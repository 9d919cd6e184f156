internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Sessions

/// The name that Apple sent with a sign-in that failed before it was known whose it is: sealed in a cookie of the same
/// browser, for ten minutes.
///
/// With `response_type = "code"` only the exchange tells the user, and Apple sends the name once. It is taken over by
/// the next sign-in of this browser that Apple sends no name with, and only for a user who has none.
enum KeptName {
  private static let cookie = SessionCookie.name + "-name"
  private static let context = Array("name".utf8)
  private static let attributes = "Path=/; Secure; HttpOnly; SameSite=None"
  /// As long as an attempt.
  private static let lifetime = Duration.milliseconds(SignInAttempt.lifetime)

  /// The whole `Set-Cookie` that keeps a name.
  static func setCookie(_ name: PersonName, _ keyring: SessionKeyring, now: Date) throws(SealError) -> String {
    // No part of a name holds a control character.
    let bytes = Array("\(name.given ?? "")\0\(name.family ?? "")".utf8)
    let value = try keyring.sealText(bytes, for: .attempt, context: context, expires: now + lifetime.timeInterval)
    return "\(cookie)=\(value); \(attributes); Max-Age=\(lifetime.components.seconds)"
  }

  /// Takes the cookie away.
  static let clearCookie = "\(cookie)=; \(attributes); Max-Age=0"

  /// Whether the browser has one.
  static func isSent(with request: ControlRequest) -> Bool {
    RequestCookies(request.head.headerFields).first(cookie) != nil
  }

  /// The name in the request's cookie; nil if there is none, or its time is over.
  static func open(in request: ControlRequest, _ keyring: SessionKeyring, now: Date) -> PersonName? {
    guard let value = RequestCookies(request.head.headerFields).first(cookie),
      let bytes = try? keyring.openText(Array(value.utf8), for: .attempt, context: context, now: now)
    else { return nil }
    let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 2 else { return nil }
    return PersonName(given: parts[0], family: parts[1])
  }
}
