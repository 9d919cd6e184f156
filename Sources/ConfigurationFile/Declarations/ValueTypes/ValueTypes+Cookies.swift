import Sessions

extension ValueType where Value == CookieNames {
  /// The name of the session cookie.
  static var cookieNames: ValueType {
    text(
      "cookie name", expected: "the name of a cookie, as in \"__Host-cordon-2\"", write: \.session,
      parse: { text, _ throws(Diagnostic) in
        do throws(CookieNameError) {
          return try CookieNames(session: text)
        } catch {
          throw error.diagnostic
        }
      })
  }
}

extension CookieNameError {
  fileprivate var diagnostic: Diagnostic {
    switch self {
    case .form:
      Diagnostic(
        "is not a name for the session cookie",
        remedy: "write \"__Host-\" and letters, digits or other characters of a token, "
          + "\(CookieNames.limit) bytes at most, as in \"__Host-cordon-2\"")
    case .besideStandard:
      Diagnostic(
        "begins with \"__Host-cordon\", but other gateways would not know it as a gateway's",
        remedy: "write a hyphen after that, as in \"__Host-cordon-2\", or another word")
    case .ofAnotherCookie:
      Diagnostic(
        "could be the name of another cookie of a gateway",
        remedy: "leave the words attempt, visit, last and name out")
    }
  }
}
