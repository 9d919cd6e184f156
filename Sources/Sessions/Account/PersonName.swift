internal import WebFormats

/// The name that a user entered at Apple. It is sent by the browser, unsigned and only once, so each part is sanitized
/// (``DisplayName``) and used only for display.
package struct PersonName: Sendable, Hashable, Codable {
  /// The given name (`firstName` in Apple's answer).
  package let given: String?
  /// The family name (`lastName`).
  package let family: String?
  /// The display form, unless it is given name, space, family name.
  package let display: String?

  /// Nil if nothing visible is left of the parts.
  package init?(given: String?, family: String?, display: String? = nil) {
    self.given = given.flatMap(DisplayName.sanitized)
    self.family = family.flatMap(DisplayName.sanitized)
    self.display = display.flatMap(DisplayName.sanitized)
    if self.given == nil, self.family == nil, self.display == nil { return nil }
  }

  /// The whole name for people to read; never empty.
  package var text: String {
    if let display { return display }
    return [given, family].compactMap(\.self).joined(separator: " ")
  }
}
