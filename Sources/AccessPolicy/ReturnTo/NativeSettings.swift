/// Settings for native apps (`[native]` of the configuration).
package struct NativeSettings: Sendable, Equatable {
  /// Custom URL schemes, in lower case, that a sign-in in the browser may return to. Default: none.
  package var returnSchemes: [String] = []
  /// Whether a session is also accepted as `Authorization: Bearer`, and apps receive the token for it. Default: false.
  package var acceptsBearer = false

  /// The defaults.
  package init() {}
}
