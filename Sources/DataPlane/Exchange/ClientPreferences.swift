/// What a client would like to read, as it said: the bytes of the fields, nil where it did not say or did not get that
/// far.
package struct ClientPreferences: Sendable, Equatable {
  /// `Accept`.
  package var accept: [UInt8]?
  /// `Accept-Language`.
  package var acceptLanguage: [UInt8]?

  package init(accept: [UInt8]? = nil, acceptLanguage: [UInt8]? = nil) {
    self.accept = accept
    self.acceptLanguage = acceptLanguage
  }

  /// Nothing is known.
  package static let unknown = ClientPreferences()
}
