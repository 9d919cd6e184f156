internal import WebFormats

/// What a page may do: nothing but show its own style and, where it says so, run its own script and post its own form.
struct ContentSecurityPolicy: Sendable, Equatable {
  /// A random text that marks our own style and script.
  let nonce: Nonce
  var allowsScript = false
  /// Where forms may be sent. A browser holds each redirect that answers a form to this too (Chromium does), so that a
  /// page whose form's answer may lead on to anywhere has no `form-action`; its form's target is escaped and fixed.
  var formAction: FormAction = .nowhere

  enum FormAction: Sendable, Equatable {
    case nowhere, sameOrigin, unlimited
  }

  /// The value of the `Content-Security-Policy` field.
  var value: String {
    var directives = ["default-src 'none'", "style-src 'nonce-\(nonce.text)'", "img-src 'self' data:"]
    if allowsScript { directives.append("script-src 'nonce-\(nonce.text)'") }
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
