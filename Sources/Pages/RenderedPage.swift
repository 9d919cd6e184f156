/// An answer, ready to be sent.
public struct RenderedPage: Sendable, Equatable {
  /// The status code.
  public var status: Int
  /// `text/html; charset=utf-8` or `application/json`.
  public var contentType: String
  /// The tag of the language that it is in (BCP 47).
  public var language: String
  /// The body, UTF-8.
  public var body: [UInt8]
  /// The value of `Content-Security-Policy`.
  public var contentSecurityPolicy: String
  /// Fields that this answer has beside the usual ones, such as `retry-after`.
  public var extraFields: [Field] = []

  /// Every field of the answer but `content-length`, names in lower case. The answer is for this one browser and this
  /// one moment: it is not stored, not framed and not guessed at. The referrer policy keeps `Origin` on our own forms
  /// (`no-referrer` would make it `null`, and signing out would be refused).
  public var fields: [Field] {
    [
      Field("content-type", contentType), Field("content-language", language),
      Field("content-security-policy", contentSecurityPolicy), Field("cache-control", "no-store"),
      Field("referrer-policy", "same-origin"), Field("x-content-type-options", "nosniff"),
      Field("x-frame-options", "DENY"), Field("vary", "Accept, Accept-Language"),
    ] + extraFields
  }

  /// A header field.
  public struct Field: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}
