internal import WebFormats

/// The permissions of a page: its own style and, if set, its own script and form.
struct ContentSecurityPolicy: Sendable, Equatable {
  /// A random text that marks our own style and script.
  let nonce: Nonce
  var allowsScript = false
  /// Whether its script may ask our own origin.
  var allowsRequests = false
  /// The permitted targets of forms. Some browsers (Chromium) apply this also to redirects of the response, so a page
  /// whose form may be redirected anywhere has no `form-action`; its form's target is escaped and fixed.
  var formAction: FormAction = .nowhere

  enum FormAction: Sendable, Equatable {
    case nowhere, sameOrigin, unlimited
  }

  /// The value of the `Content-Security-Policy` field.
  var value: String {
    var directives = ["default-src 'none'", "style-src 'nonce-\(nonce.text)'", "img-src 'self' data:"]
    if allowsScript { directives.append("script-src 'nonce-\(nonce.text)'") }
    if allowsRequests { directives.append("connect-src 'self'") }
    directives += ["base-uri 'none'", "frame-ancestors 'none'"]
    switch formAction {
    case .nowhere: directives.append("form-action 'none'")
    case .sameOrigin: directives.append("form-action 'self'")
    case .unlimited: break
    }
    return directives.joined(separator: "; ")
  }

  /// 128 bits of the system's generator, in hexadecimal digits.
  struct Nonce: Sendable, Equatable {
    let text: String

    init(using generator: inout some RandomNumberGenerator) {
      text = Hex.text((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
  }
}
