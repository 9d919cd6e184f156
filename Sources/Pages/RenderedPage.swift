/// An answer, ready to be sent.
package struct RenderedPage: Sendable, Equatable {
  /// The status code.
  package var status: Int
  /// `text/html; charset=utf-8` or `application/json`.
  package var contentType: String
  /// The tag of the language that it is in (BCP 47).
  package var language: String
  /// The body, UTF-8.
  package var body: [UInt8]
  /// The value of `Content-Security-Policy`.
  package var contentSecurityPolicy: String
  /// The value of `Referrer-Policy`.
  package var referrerPolicy = "same-origin"
  /// Fields that this answer has beside the usual ones, such as `retry-after`.
  package var extraFields: [Field] = []

  /// Every field of the answer but `content-length`, names in lower case. The answer is for this one browser and this
  /// one moment: it is not stored, not framed, not guessed at, and not loaded into a page of another origin as an image
  /// or a script, which would bring it into that page's process. The referrer policy keeps `Origin` on our own forms
  /// (`no-referrer` would make it `null`, and signing out would be refused).
  package var fields: [Field] {
    [
      Field("content-type", contentType), Field("content-language", language),
      Field("content-security-policy", contentSecurityPolicy), Field("cache-control", "no-store"),
      Field("referrer-policy", referrerPolicy), Field("x-content-type-options", "nosniff"),
      Field("x-frame-options", "DENY"), Field("cross-origin-resource-policy", "same-origin"),
      Field("vary", "Accept, Accept-Language"),
    ] + extraFields
  }

  /// A header field.
  package struct Field: Sendable, Equatable {
    /// In lower case.
    package var name: String
    /// Without line breaks.
    package var value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}
